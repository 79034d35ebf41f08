import { afterAll, describe, expect, it } from 'vitest';
import { PUBLIC_CALLER } from '../../../../../src/auth/caller.ts';
import { createRateLimits } from '../../../../../src/auth/rate-limits.ts';
import { OracleError } from '../../../../../src/errors.ts';
import { route } from '../../../../../src/http/route.ts';
import { createApp, createStartingApp } from '../../../../../src/http/server.ts';
import { createLog } from '../../../../../src/platform/log.ts';
import { describeWithBrowser } from '../../../../support/docs/browser.ts';
import { type Served, serveApp } from '../../../../support/http/serve.ts';

/** As Chromium and Firefox send it with a navigation. */
const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8';
const log = createLog({ level: 'silent', secrets: [] });
const served: Served[] = [];
afterAll(() => Promise.all(served.map(({ close }) => close())));

const stopping = new AbortController();

async function open(limit = 1_000, retryAfterSeconds = 7): Promise<string> {
  let taken = 0;
  const limits = createRateLimits({
    counts: { add: async (_id, count) => (taken += count) },
    limits: { public: limit, wallet: 300, rpc: 10, tasks: 10 },
    now: () => new Date(Date.UTC(2026, 4, 1, 12, 0, 60 - retryAfterSeconds)),
    log,
  });
  const operation = { tag: 'service', summary: 'What fails', reply: null } as const;
  const routes = [
    route('GET /fine', 'fine', { ...operation, handle: () => ({ headers: { 'Content-Type': 'text/plain' }, raw: 'fine' }) }),
    route('GET /overloaded', 'overloaded', {
      ...operation,
      handle() {
        throw new OracleError('OVERLOADED', 'Too many <b>requests</b>', { retryAfterSeconds });
      },
    }),
    route('GET /deep/of/{name}', 'missing', {
      ...operation,
      handle() {
        throw new OracleError('NOT_FOUND', 'There is none');
      },
    }),
    route('GET /wrong', 'wrong', {
      ...operation,
      handle() {
        throw new OracleError('INPUT_INVALID', 'Not so');
      },
    }),
  ];
  const app = createApp(routes, { log, identify: async () => PUBLIC_CALLER, limits, stopping: stopping.signal });
  served.push(await serveApp(app));
  return served.at(-1)!.url;
}

const ask = (url: string, accept: string | null = BROWSER, method = 'GET') =>
  fetch(url, { method, headers: accept === null ? {} : { Accept: accept } });

async function expectPage(response: Response, status: number, retryAfter: string | null) {
  expect(response.status).toBe(status);
  expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(response.headers.get('retry-after')).toBe(retryAfter);
  expect(response.headers.get('vary')).toMatch(/\bAccept\b/);
  expect(response.headers.get('cache-control')).toBe('no-store');
  const html = await response.text();
  expect(html.length).toBeLessThan(3_500);
  // Its own files could be refused as well.
  expect(html).not.toMatch(/<link|<img|\ssrc=|url\(/);
  expect(/http-equiv="refresh" content="(\d+)"/.exec(html)?.[1] ?? null).toBe(retryAfter === null ? null : String(Number(retryAfter) + 1));
  return html;
}

describe('a browser', () => {
  it('gets a page that loads again after the limit', async () => {
    const url = await open(2);
    expect(await (await ask(`${url}/fine`)).text()).toBe('fine');
    await ask(`${url}/fine`);
    const html = await expectPage(await ask(`${url}/fine`), 429, '7');
    expect(html).toContain('The limit of 2 requests per minute of one address is reached');
    expect(html).toContain('429 RATE_LIMITED');
    await expectPage(await ask(`${url}/nothing/here`), 429, '7');
    expect((await ask(`${url}/fine`)).headers.get('ratelimit')).toBe('"public";r=0;t=7');
  });

  it('gets a page for an unknown path, with a link to the first page that a proxy may serve below a path', async () => {
    const url = await open();
    const html = await expectPage(await ask(`${url}/nothing/at/all?x=1/2`), 404, null);
    expect(html).toContain('<a href="../../">');
    expect(await expectPage(await ask(`${url}/deep/of/x`), 404, null)).toContain('There is none');
    expect(await (await ask(`${url}/nothing`)).text()).toContain('<a href="./">');
  });

  it('gets a page under load, in which text is text', async () => {
    const html = await expectPage(await ask(`${await open()}/overloaded`), 503, '7');
    expect(html).toContain('&lt;b&gt;requests&lt;/b&gt;');
  });

  it('gets a page while the service starts', async () => {
    const setup = { current: { what: 'replaying' } } as unknown as Parameters<typeof createStartingApp>[0]['setup'];
    served.push(await serveApp(createStartingApp({ log, publicUrl: 'http://localhost', setup })));
    const url = served.at(-1)!.url;
    expect(await expectPage(await ask(`${url}/f/2026-11-01/7d`), 503, '30')).toContain('The service is starting');
    expect((await ask(`${url}/f/2026-11-01/7d`, 'application/json')).headers.get('content-type')).toContain('application/problem+json');
  });
});

describe('a program', () => {
  it.each([
    null,
    '*/*',
    'application/json',
    'application/problem+json',
    'application/json, text/html',
    'text/html;q=0.5, application/json',
    'text/plain',
  ])('with Accept %s gets a problem document', async (accept) => {
    const response = await ask(`${await open()}/overloaded`, accept);
    expect(response.headers.get('content-type')).toBe('application/problem+json; charset=utf-8');
    expect(response.headers.get('retry-after')).toBe('7');
    expect(await response.json()).toMatchObject({ status: 503, code: 'OVERLOADED', retryable: true });
  });

  it('gets one for a mistake in its request, and for what it posts', async () => {
    const url = await open();
    for (const response of [await ask(`${url}/wrong`), await ask(`${url}/nothing`, BROWSER, 'POST')])
      expect(response.headers.get('content-type')).toContain('application/problem+json');
  });
});

describeWithBrowser('in a browser', (browser) => {
  it('the page counts down and loads the address again, within its own policy', async () => {
    const url = await open(1, 2);
    await fetch(`${url}/fine`);
    const page = await browser.open(`${url}/fine`);
    expect(await page.locator('#left').textContent()).toMatch(/^[12]$/);
    await page.waitForEvent('load');
    // The browser itself reports the status, and wants an icon.
    expect(page.problems().filter((problem) => !/status of (429|404)/.test(problem))).toEqual([]);
  });

  it.each([
    [390, 'light'],
    [390, 'dark'],
    [1_440, 'light'],
    [1_440, 'dark'],
  ] as const)('the page fits %i pixels, %s', async (width, colorScheme) => {
    const page = await browser.open(`${await open()}/overloaded`, { width, colorScheme });
    expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
    const ground = await page.evaluate<string>('getComputedStyle(document.body).backgroundColor');
    expect(ground).toBe(colorScheme === 'dark' ? 'rgb(15, 19, 24)' : 'rgb(255, 255, 255)');
  });
});

it('a process that stops answers a browser with a page', async () => {
  const url = await open();
  stopping.abort();
  expect(await expectPage(await ask(`${url}/fine`), 503, '5')).toContain('The service is stopping');
});
