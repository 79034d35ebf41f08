import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EXTENSION_URIS } from '../../../../../agent-card/card.ts';
import { ENDPOINTS, IDENTITY, MCP_VERSION } from '../../../../../agent-card/endpoints.ts';
import packageJson from '../../../../../package.json' with { type: 'json' };
import { SKILLS } from '../../../../../skills/index.ts';
import { formatPrice } from '../../../../../skills/skill.ts';
import { findOffering, formatAmount, getOfferingId, OFFERINGS } from '../../../../../src/commerce/offerings.ts';
import { AI_CATALOG_TYPE, API_CATALOG_TYPE, SERVER_CARD_TYPE } from '../../../../../src/http/routes/agent-card.ts';
import { loginToken } from '../../../../support/auth/login.ts';
import { type CurlLine, curlLines } from '../../../../support/docs/documents.ts';
import { isVague, subschemasOf } from '../../../../support/http/json-schema.ts';
import { type Served, serve } from '../../../../support/http/serve.ts';
import { youngService } from '../../../../support/service/full-service.ts';
import type { TestService } from '../../../../support/service/service.ts';

// biome-ignore lint/suspicious/noExplicitAny: documents are what is tested
type Body = any;

const SKILL_IDS = SKILLS.map(({ id }) => id);
const NOTHING_THERE = 'Nothing is served at this path';

let service: TestService;
let served: Served;
/** Everything the service says of itself. */
let collected: Record<
  'card' | 'contracts' | 'registration' | 'server' | 'openApi' | 'skills' | 'offerings' | 'identity' | 'info' | 'ecosystem',
  Body
>;
let texts: Record<'llms' | 'skillFile' | 'methodology', string>;

beforeAll(async () => {
  service = await youngService();
  served = await serve(service);
  collected = {
    card: await json(ENDPOINTS.agentCard),
    registration: await json(ENDPOINTS.registration),
    server: await json(ENDPOINTS.mcpServer),
    openApi: await json(ENDPOINTS.openApi),
    skills: await json(ENDPOINTS.skills),
    contracts: null,
    offerings: await json('/api/svc/commerce/offerings'),
    identity: await json('/api/svc/agent/identity'),
    info: await json('/api/svc/info'),
    ecosystem: await json('/api/claw/ecosystem'),
  };
  const { params } = collected.card.capabilities.extensions.find(({ uri }: Body) => uri === EXTENSION_URIS.skillContracts);
  collected.contracts = await (await fetch(here(params.contracts))).json();
  texts = { llms: await text(ENDPOINTS.llms), skillFile: await text(ENDPOINTS.skillFile), methodology: await text(ENDPOINTS.methodology) };
});
afterAll(async () => {
  await served?.close();
  await service?.stop();
});

async function text(path: string): Promise<string> {
  const response = await fetch(served.url + path);
  expect(response.status, path).toBe(200);
  return response.text();
}
const json = async (path: string): Promise<Body> => JSON.parse(await text(path));
const at = (path: string) => service.http.publicUrl + path;
/** The same at the service under test, which is not where its own URLs lead. */
const here = (url: string) => url.replaceAll(service.http.publicUrl, served.url);

/** What stands where the card says that the contracts of its skills are. */
const contracts = (): Body[] => collected.contracts.skills;

describe('agent documents agree on', () => {
  it('name and description', () => {
    for (const file of [collected.card, collected.registration, collected.identity, collected.info]) {
      expect([file.name, file.description]).toEqual([IDENTITY.name, IDENTITY.description]);
    }
    expect([collected.server.title, collected.openApi.info.title]).toEqual([IDENTITY.name, IDENTITY.name]);
    expect(texts.llms.startsWith(`# ${IDENTITY.name}\n\n> ${IDENTITY.description}\n`)).toBe(true);
    expect(texts.skillFile).toContain(`\n# ${IDENTITY.name}\n\n${IDENTITY.description}\n`);
  });

  it('the version', () => {
    const versions = [collected.card.version, collected.server.version, collected.info.version, collected.identity.agentCard.version];
    expect(new Set(versions)).toEqual(new Set([packageJson.version]));
    expect(texts.skillFile).toContain(`version: "${packageJson.version}"`);
  });

  it('the endpoints', () => {
    const findEndpoint = (name: string) => collected.registration.services.find((one: Body) => one.name === name);
    expect(findEndpoint('A2A').endpoint).toBe(collected.identity.agentCard.url);
    expect([collected.server.remotes[0].url, at(ENDPOINTS.mcp)]).toEqual([findEndpoint('MCP').endpoint, findEndpoint('MCP').endpoint]);
    expect([collected.card.url, collected.card.additionalInterfaces[0].url]).toEqual(
      Array(2).fill(collected.card.supportedInterfaces[0].url),
    );
    for (const endpoint of [findEndpoint('A2A').endpoint, findEndpoint('MCP').endpoint, collected.card.documentationUrl])
      expect(texts.llms).toContain(`(${endpoint})`);
    expect(texts.skillFile).toContain(`"url": "${findEndpoint('MCP').endpoint}"`);
    expect(texts.skillFile).toContain(`curl -X POST ${collected.card.url} `);
    expect(collected.registration.image).toBe(collected.card.iconUrl);
  });

  it('payee and receipt signer in the signed card, the registration file and the terms', async () => {
    const terms = await json(ENDPOINTS.x402);
    const { params } = collected.card.capabilities.extensions.find(({ uri }: Body) => uri === EXTENSION_URIS.x402);
    expect([params.payee, params.asset, params.receiptSigner]).toEqual([terms.payee, terms.asset.address, terms.receipt.signer]);
    expect(params.terms).toBe(at(ENDPOINTS.x402));
    const { payee, asset, receiptSigner } = collected.registration.services.find(({ name }: Body) => name === 'x402');
    expect([payee, asset, receiptSigner]).toEqual(
      [params.payee, params.asset, params.receiptSigner].map((one) => `${params.network}:${one}`),
    );
  });

  it('the on-chain identity, whose URI is the registration file', async () => {
    const { agentUri, agentId } = collected.ecosystem.contracts.identityRegistry;
    expect(agentUri).toBe(at(ENDPOINTS.registration));
    expect(await (await fetch(here(agentUri))).json()).toEqual(collected.registration);
    expect(collected.registration.registrations).toEqual([
      { agentId, agentRegistry: `${collected.identity.chain}:${collected.identity.registries.identity}` },
    ]);
    const { params } = collected.card.capabilities.extensions.find(({ uri }: Body) => uri === EXTENSION_URIS.identity);
    expect([params.agentId, params.agentRegistry, params.registration]).toEqual([
      String(agentId),
      collected.registration.registrations[0].agentRegistry,
      agentUri,
    ]);
  });

  it('skill ids and titles', () => {
    const lists: string[][] = [
      collected.card.skills.map(({ id }: Body) => id),
      contracts().map(({ id }) => id),
      collected.skills.skills.map(({ id }: Body) => id),
      collected.identity.agentCard.skills,
      ...collected.registration.services.flatMap(({ a2aSkills, mcpTools }: Body) => [a2aSkills, mcpTools].filter(Boolean)),
      Object.keys(collected.openApi.paths).flatMap((path) => /^\/api\/svc\/skills\/(\w+)$/.exec(path)?.[1] ?? []),
      [...texts.llms.matchAll(/\((\w+)\)\]\([^)]*\/api\/svc\/skills\)/g)].map(([, id]) => id),
      [...texts.skillFile.matchAll(/^### .*`(\w+)`$/gm)].map(([, id]) => id),
    ];
    expect(lists).toEqual(Array(9).fill(SKILL_IDS));
    const titles = SKILLS.map(({ title }) => title);
    expect(collected.card.skills.map(({ name }: Body) => name)).toEqual(titles);
    expect(collected.skills.skills.map(({ title }: Body) => title)).toEqual(titles);
  });

  it.each(SKILLS.map((skill) => [skill.id, skill] as const))('tier, price and input of %s', (id, skill) => {
    const contract = contracts().find((one) => one.id === id);
    const listed = collected.skills.skills.find((one: Body) => one.id === id);
    const operation = collected.openApi.paths[`${ENDPOINTS.skills}/${id}`].post;
    expect([contract.tier, listed.tier]).toEqual([skill.tier, skill.tier]);
    expect(operation.security.some((requirement: object) => Object.keys(requirement).length === 0)).toBe(
      skill.tier === 'public' || skill.offering !== null,
    );
    expect([contract.price.description, listed.price.description]).toEqual(Array(2).fill(formatPrice(skill)));
    expect(listed.price).toEqual(contract.price);
    for (const document of [texts.llms, texts.skillFile]) expect(document).toContain(formatPrice(skill));
    const body = operation.requestBody.content['application/json'].schema;
    const inOpenApi = body.$ref === undefined ? body : collected.openApi.components.schemas[body.$ref.split('/').at(-1)];
    expect(Object.keys(inOpenApi.properties)).toEqual(Object.keys(contract.inputSchema.properties));
  });

  it('prices, as text and number, with the list of offerings', () => {
    const priced = contracts().filter(({ price }) => price.singleAnswer !== null);
    expect(priced.length).toBeGreaterThan(0);
    for (const { price } of priced) {
      const { offering, amount, asset } = price.singleAnswer;
      const listed = collected.offerings.offerings.find((one: Body) => one.id === offering);
      const sold = OFFERINGS.find((one) => getOfferingId(one) === offering)!;
      expect(amount).toBe(formatAmount(sold.price));
      expect(price.description).toContain(listed.priceDisplay);
      expect(`${amount} ${asset}`).toBe(listed.priceDisplay);
    }
    expect(collected.registration.x402Support).toBe(collected.offerings.channels.find(({ channel }: Body) => channel === 'x402').open);
  });

  it('a price that changes in the table', async () => {
    const { offering } = SKILLS.find((skill) => skill.offering !== null)!;
    const { price } = findOffering(offering!.channel, offering!.name)!;
    const before = { ...price };
    try {
      price.amount = 987_654_321n;
      for (const answer of await pricedAnswers()) {
        expect(answer).toContain('987.654321');
        expect(answer).not.toContain(`${formatAmount(before)} USD for a single answer`);
      }
    } finally {
      Object.assign(price, before);
    }
  });

  /** Without requests so far. */
  async function pricedAnswers(): Promise<string[]> {
    const fresh = await serve(service);
    const paths = [ENDPOINTS.llms, ENDPOINTS.skillFile, ENDPOINTS.skills, '/api/svc/commerce/offerings'];
    const answers = await Promise.all(paths.map(async (path) => (await fetch(fresh.url + path)).text()));
    await fresh.close();
    return answers;
  }

  it('the tools that an MCP client lists', async () => {
    const client = new Client({ name: 'a-test', version: '1' }, { versionNegotiation: { mode: 'auto' } });
    await client.connect(new StreamableHTTPClientTransport(new URL(served.url + ENDPOINTS.mcp)));
    const { tools } = await client.listTools();
    expect(client.getNegotiatedProtocolVersion()).toBe(MCP_VERSION);
    expect(client.getServerVersion()).toMatchObject({ name: IDENTITY.slug, title: collected.card.name, version: collected.card.version });
    await client.close();
    expect(tools.map(({ name }) => name)).toEqual(SKILL_IDS);
    for (const { name, title, description, inputSchema, outputSchema } of tools) {
      expect(subschemasOf(inputSchema).concat(subschemasOf(outputSchema!)).filter(isVague), name).toEqual([]);
      const contract = contracts().find(({ id }) => id === name);
      const { name: titled } = collected.card.skills.find(({ id }: Body) => id === name);
      expect(title, name).toBe(titled);
      expect(description, name).toContain(contract.price.description);
      const { $schema: _, properties, ...schema } = inputSchema;
      // How it is answered is a choice of MCP alone.
      const { form, access, ...inputs } = properties as Body;
      expect(form).toMatchObject({ enum: ['summary', 'full'] });
      expect(access !== undefined, name).toBe(contract.price.singleAnswer !== null);
      expect({ ...schema, properties: inputs }, name).toEqual(contract.inputSchema);
    }
  });
});

describe('URLs in agent documents', () => {
  /** URLs of the service in a text, as they are written there. */
  const urlsIn = (document: string) =>
    document.match(new RegExp(`${service.http.publicUrl}[^\\s"'\`)\\]]*`, 'g'))?.map((url) => url.replace(/[.,;:]+$/, '')) ?? [];

  it('are all served', async () => {
    const { openApi: _, ...others } = collected;
    const documents = [...Object.values(others).map((body) => JSON.stringify(body).replaceAll('\\"', '"')), ...Object.values(texts)];
    const urls = [...new Set(documents.flatMap(urlsIn))];
    expect(urls.length).toBeGreaterThan(30);
    for (const url of urls) expect([url, await isThere(url)]).toEqual([url, true]);
  });

  /** Answered by GET, or, where that is not its method, by one that its `Allow` names. */
  async function isThere(url: string): Promise<boolean> {
    const path = decodeURI(new URL(url).pathname);
    // The base of paths.
    if (path === ENDPOINTS.a2aRest) return isThere(`${url}/tasks`);
    if (/[<{]/.test(path))
      return Object.keys(collected.openApi.paths).some(
        (known) => known.replaceAll(/\{\w+\}/g, '') === path.replaceAll(/[<{][\w ]+[>}]/g, ''),
      );
    const response = await fetch(here(url));
    const body = await response.text();
    if (response.status === 405) return (response.headers.get('allow') ?? '') !== '';
    return response.status !== 404 && !body.includes(NOTHING_THERE);
  }

  it('work as SKILL.md shows them', async () => {
    const token = await loginToken(service, 'premium');
    const lines = curlLines(texts.skillFile.replaceAll('$TOKEN', token));
    expect(lines.length).toBeGreaterThan(SKILLS.length);
    for (const line of lines) expect([line.line, await outcomeOf(line)]).toEqual([line.line, 'as told']);
  });

  /** The values of some lines are made up: that they are refused for these is all there is to see. */
  async function outcomeOf({ url, method, headers, body }: CurlLine): Promise<string> {
    const response = await fetch(here(url), { method, headers, body });
    const answer: Body = await response.json();
    if (body?.includes('0x...')) return answer.field === 'wallet' ? 'as told' : JSON.stringify(answer);
    if (/\/oracle\?/.test(url)) return answer.payment?.amount === '1000' ? 'as told' : JSON.stringify(answer);
    if (answer.code === 'NOT_FOUND' && answer.detail !== NOTHING_THERE) return 'as told';
    return response.ok && answer.error === undefined ? 'as told' : JSON.stringify(answer);
  }
});

describe('an agent document', () => {
  it.each([
    [ENDPOINTS.llms, 'text/plain; charset=utf-8'],
    [ENDPOINTS.skillFile, 'text/markdown; charset=utf-8'],
    [ENDPOINTS.methodology, 'text/markdown; charset=utf-8'],
    [ENDPOINTS.icon, 'image/svg+xml; charset=utf-8'],
    [ENDPOINTS.mcpServer, 'application/json; charset=utf-8'],
    [ENDPOINTS.mcpServerCard, SERVER_CARD_TYPE],
    [ENDPOINTS.mcpServerCardWellKnown, SERVER_CARD_TYPE],
    [ENDPOINTS.aiCatalog, AI_CATALOG_TYPE],
    [ENDPOINTS.apiCatalog, API_CATALOG_TYPE],
  ])('%s has its media type, is cacheable and returns 304', async (path, type) => {
    const response = await fetch(served.url + path);
    expect([response.headers.get('content-type'), response.headers.get('cache-control')]).toEqual([type, 'public, max-age=3600']);
    const etag = response.headers.get('etag')!;
    expect((await fetch(served.url + path, { headers: { 'If-None-Match': etag } })).status).toBe(304);
    const token = await loginToken(service, 'basic');
    const asked = await fetch(served.url + path, { headers: { Authorization: `Bearer ${token}` } });
    expect(await asked.text()).toBe(await response.text());
  });

  it.each([
    ['/.well-known/agent.json', ENDPOINTS.agentCard],
    ['/.well-known/mcp.json', ENDPOINTS.mcpServerCard],
    [ENDPOINTS.mcpServerCardWellKnown, ENDPOINTS.mcpServerCard],
  ])('is answered at %s, where older readers look, with its canonical address', async (path, canonical) => {
    const [other, own] = [await fetch(served.url + path), await fetch(served.url + canonical)];
    expect(other.headers.get('link')).toBe(`<${at(canonical)}>; rel="canonical"`);
    expect(own.headers.get('link')).toBeNull();
    for (const name of ['content-type', 'cache-control', 'etag', 'last-modified']) {
      expect([name, other.headers.get(name)]).toEqual([name, own.headers.get(name)]);
    }
    expect(await other.text()).toBe(await own.text());
  });

  it('of RFC 9116 names contact, end of validity and its own address', async () => {
    const response = await fetch(`${served.url}/.well-known/security.txt`);
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8']);
    const fields = new Map(
      (await response.text())
        .trim()
        .split('\n')
        .map((line) => line.split(/: (.*)/) as [string, string]),
    );
    expect(fields.get('Contact')).toBe(at('/'));
    expect(fields.get('Canonical')).toBe(at('/.well-known/security.txt'));
    const daysLeft = (Date.parse(fields.get('Expires')!) - service.http.now().getTime()) / 86_400_000;
    expect(daysLeft).toBeGreaterThan(30);
    expect(daysLeft).toBeLessThan(365);
    const named = await fetch(`${(await servedWith('operator@oracle.test')).url}/.well-known/security.txt`);
    expect(await named.text()).toMatch(/^Contact: mailto:operator@oracle\.test$/m);
  });

  const others: Served[] = [];
  afterAll(() => Promise.all(others.map((one) => one.close())));

  /** The same service with the contact of its operator. */
  async function servedWith(contact: string): Promise<Served> {
    const other = await serve({ ...service, http: { ...service.http, contact } });
    others.push(other);
    return other;
  }

  it('for robots admits every reader and names what to read', async () => {
    const response = await fetch(`${served.url}/robots.txt`);
    expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    const text = await response.text();
    expect(text).toMatch(/^User-agent: \*\nDisallow:\n/m);
    expect(text).toContain(at(ENDPOINTS.llms));
  });

  it('has an icon where browsers and directories look for it', async () => {
    const response = await fetch(`${served.url}/favicon.ico`);
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'image/x-icon']);
    const icon = Buffer.from(await response.arrayBuffer());
    // ICONDIR with one entry, whose image is a PNG at the offset that it names.
    expect([icon.readUInt16LE(0), icon.readUInt16LE(2), icon.readUInt16LE(4)]).toEqual([0, 1, 1]);
    const [bytes, offset] = [icon.readUInt32LE(14), icon.readUInt32LE(18)];
    expect(offset + bytes).toBe(icon.length);
    expect(icon.subarray(offset, offset + 8).toString('latin1')).toBe('\x89PNG\r\n\x1a\n');
    expect([icon[6], icon[7]]).toEqual([icon.readUInt32BE(offset + 16), icon.readUInt32BE(offset + 20)]);
  });

  it('has the links of the API catalog in its response to HEAD', async () => {
    const response = await fetch(served.url + ENDPOINTS.apiCatalog, { method: 'HEAD' });
    expect(response.status).toBe(200);
    expect(response.headers.get('link')).toMatch(/^<[^>]+\/\.well-known\/api-catalog>; rel="api-catalog", <[^>]+\/a2a>; rel="item"/);
    expect(response.headers.get('content-type')).toBe(API_CATALOG_TYPE);
  });

  it.each(['application/json', 'text/html'])('is found from the first page as %s', async (type) => {
    const { headers } = await fetch(served.url, { headers: { Accept: type } });
    expect([headers.get('content-type')?.split(';')[0], headers.get('link')]).toEqual([
      type,
      `<${service.http.publicUrl}${ENDPOINTS.apiCatalog}>; rel="api-catalog"`,
    ]);
  });

  it('of the catalogs links to documents with the media types that it names', async () => {
    const { linkset } = (await (await fetch(served.url + ENDPOINTS.apiCatalog)).json()) as Body;
    const links: { href: string; type: string }[] = linkset.flatMap((one: Body) => [...(one['service-desc'] ?? []), ...(one.status ?? [])]);
    for (const { href, type } of links) {
      const response = await fetch(here(href));
      expect([href, response.headers.get('content-type')?.split(';')[0]]).toEqual([href, type]);
      await response.body?.cancel();
    }
    const { entries } = (await (await fetch(served.url + ENDPOINTS.aiCatalog)).json()) as Body;
    for (const { url } of entries) expect((await fetch(here(url))).status, url).toBe(200);
  });
});
