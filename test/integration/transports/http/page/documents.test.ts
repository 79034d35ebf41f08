import { type DefaultTreeAdapterTypes as Html, parse } from 'parse5';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ENDPOINTS } from '../../../../../agent-card/endpoints.ts';
import { MCP_PATHS, RESOURCE_METADATA_PATH } from '../../../../../src/auth/oauth-clients.ts';
import { DOCUMENT_PAGES } from '../../../../../src/http/routes/documents.ts';
import { SERVER_METADATA_PATH } from '../../../../../src/http/routes/oauth.ts';
import { type Served, serve } from '../../../../support/http/serve.ts';
import { type TestService, testService } from '../../../../support/service/service.ts';

const PUBLIC_URL = 'https://oracle.test/btc';
const BASE = `${PUBLIC_URL}/`;

let service: TestService;
let served: Served;

beforeAll(async () => {
  service = await testService(0, { PUBLIC_URL, RATE_LIMIT_PUBLIC: '10000' });
  served = await serve(service);
});
afterAll(async () => {
  await served.close();
  await service.stop();
});

const get = (path: string, headers: Record<string, string> = {}) => fetch(`${served.url}/${path}`, { headers });
const read = async (path: string) => parse(await (await get(path, { accept: 'text/html' })).text());

const nodes = (root: Html.Node): Html.Node[] => [root, ...('childNodes' in root ? root.childNodes.flatMap(nodes) : [])];
const elements = (root: Html.Node, tagName?: string) =>
  nodes(root).flatMap((node) => ('tagName' in node && node.tagName === (tagName ?? node.tagName) ? [node] : []));
const attributes = (found: Html.Element[], wanted: string) =>
  found.flatMap(({ attrs }) => attrs.flatMap(({ name, value }) => (name === wanted ? [value] : [])));

describe.each(DOCUMENT_PAGES)('$path', ({ path, markdownPath, label }) => {
  it('is a page with its Markdown as alternate, without inline styles', async () => {
    const response = await get(path);
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(response.headers.get('content-security-policy')).toContain("; style-src 'self';");
    const page = parse(await response.text());
    expect(elements(page, 'h1')).toHaveLength(1);
    expect(
      nodes(elements(page, 'title')[0]!)
        .map((node) => ('value' in node ? node.value : ''))
        .join(''),
    ).toContain(label);
    const links = elements(page, 'link').map(({ attrs }) => Object.fromEntries(attrs.map(({ name, value }) => [name, value])));
    expect(links.find(({ rel }) => rel === 'canonical')!.href).toBe(`${BASE}${path}`);
    expect(links.find(({ rel }) => rel === 'alternate')).toEqual({ rel: 'alternate', type: 'text/markdown', href: markdownPath });
    expect(attributes(elements(page), 'style')).toEqual([]);
    expect((await get(path, { 'If-None-Match': response.headers.get('etag')! })).status).toBe(304);
    const markdown = await get(markdownPath);
    expect(markdown.headers.get('content-type')).toBe('text/markdown; charset=utf-8');
    expect(await markdown.text()).toMatch(/^(?:---\n[\s\S]*?\n---\n\n)?# /);
  });
});

it('all internal links and anchors of the documents lead somewhere', async () => {
  const anchors = new Map<string, Set<string>>();
  const links = new Map<string, string>();
  for (const { path } of DOCUMENT_PAGES) {
    const page = await read(path);
    anchors.set(path, new Set(attributes(elements(page), 'id')));
    for (const href of attributes(elements(page, 'a'), 'href')) {
      const url = new URL(href, BASE);
      if (url.href.startsWith(BASE)) links.set(url.href, path);
    }
  }
  const broken: string[] = [];
  for (const [link, from] of links) {
    const url = new URL(link);
    const path = url.pathname.slice('/btc/'.length);
    const response = anchors.has(path) ? null : await get(`${path}${url.search}`, { accept: 'text/html' });
    const hasAnchor = url.hash === '' || anchors.get(path)?.has(url.hash.slice(1)) === true;
    if ((response !== null && response.status !== 200) || !hasAnchor) broken.push(`${link} in ${from}`);
  }
  expect(links.size).toBeGreaterThan(150);
  expect(broken).toEqual([]);
});

/** Documents for programs and models, which name addresses of the service. */
const FOR_PROGRAMS = [
  ...['agent-card.json', 'agent-registration.json', 'ai-catalog.json', 'api-catalog', 'mcp/server.json', 'security.txt', 'x402.json'],
  ...[SERVER_METADATA_PATH, `${RESOURCE_METADATA_PATH}${MCP_PATHS.account}`].map((path) => path.replace('/.well-known/', '')),
]
  .map((name) => `.well-known/${name}`)
  .concat(['mcp/server-card', 'api/svc/info', 'api/svc/commerce/offerings', 'llms.txt', 'SKILL.md', 'methodology.md', 'robots.txt']);

it('every address of the service that its documents for programs name is served', async () => {
  const named = new Map<string, string>();
  for (const path of FOR_PROGRAMS) {
    const response = await get(path);
    expect(response.status, path).toBe(200);
    for (const [address] of (await response.text()).matchAll(/https:\/\/oracle\.test\/btc[^\s"'`>()[\]\\]*/g))
      if (!/[{<]/.test(address)) named.set(address.replace(/[.,;:*]+$/, '').split('#')[0]!, path);
  }
  const broken: string[] = [];
  for (const [address, from] of named) {
    const path = address.slice(BASE.length);
    const { status } = await get(path);
    // Nothing is at the base of a binding itself, and end points of OAuth say what is missing in a plain GET.
    if ((status === 404 && `/${path}` !== ENDPOINTS.a2aRest) || (status === 400 && !path.startsWith('oauth/')))
      broken.push(`${address} in ${from}: ${status}`);
  }
  expect(named.size).toBeGreaterThan(40);
  expect(broken).toEqual([]);
});

it('every document is reached from the navigation of the first page', async () => {
  const reached = new Set<string>();
  const queue = [''];
  for (let path = queue.pop(); path !== undefined; path = queue.pop()) {
    reached.add(path);
    const links = elements(await read(path), 'nav').flatMap((nav) => elements(nav, 'a'));
    const linked = attributes(links, 'href').map((href) => href.split('#')[0]!);
    queue.push(...linked.filter((next) => !reached.has(next) && DOCUMENT_PAGES.some((page) => page.path === next)));
  }
  expect([...reached]).toEqual(expect.arrayContaining(DOCUMENT_PAGES.map(({ path }) => path)));
});

it('rejects names of no document', async () => {
  for (const name of ['verify', '..%2FREADME.md', 'ARCHITECTURE', 'model.md.md']) {
    const response = await get(`documents/${name}`);
    expect(response.status, name).toBe(400);
    expect(await response.json()).toMatchObject({ code: 'INPUT_INVALID', field: 'file' });
  }
});
