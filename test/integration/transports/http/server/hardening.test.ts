import { createHash, randomBytes } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { MongoNetworkError } from 'mongodb';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type Caller, PUBLIC_CALLER } from '../../../../../src/auth/caller.ts';
import { type AppOptions, createRequestSummary } from '../../../../../src/http/request.ts';
import { route } from '../../../../../src/http/route.ts';
import { createApp, createStartingApp, type HttpServer, listen } from '../../../../../src/http/server.ts';
import { createLog } from '../../../../../src/platform/log.ts';
import { createStartupProgress } from '../../../../../src/platform/progress.ts';
import { bodyOf, rawConnection, rawExchange } from '../../../../support/http/raw.ts';
import { type Served, serveApp } from '../../../../support/http/serve.ts';

const LONG = 'a text that repeats '.repeat(500);
const WALLET = '0x00000000000000000000000000000000000000aa';
const PAGE_POLICY = "default-src 'none'; frame-ancestors *";

let lines: string[];
const log = createLog({ level: 'debug', secrets: [], write: (line) => void lines.push(line) });
const identify = async (authorization?: string): Promise<Caller> =>
  authorization === undefined ? PUBLIC_CALLER : { tier: 'basic', wallet: WALLET };
const reply = z.object({});
const common = { tag: 'service', summary: 'What the door is tried on', reply } as const;
const body = z.strictObject({ name: z.string(), list: z.array(z.unknown()).optional() });

const ROUTES = [
  route('GET /short', 'short', { ...common, handle: () => ({ body: {} }) }),
  route('GET /long', 'long', { ...common, reply: z.object({ text: z.string() }), handle: () => ({ body: { text: LONG } }) }),
  route('GET /page', 'page', {
    ...common,
    handle: () => ({
      raw: '<p>',
      headers: { 'Content-Type': 'text/html', 'Content-Security-Policy': PAGE_POLICY, 'Cache-Control': 'max-age=60' },
    }),
  }),
  route('GET /silent', 'silent', {
    ...common,
    handle: () => {
      throw new MongoNetworkError('connection to 10.0.0.7:27017 closed');
    },
  }),
  route('GET /events', 'events', { ...common, handle: () => ({ raw: LONG, headers: { 'Content-Type': 'text/event-stream' } }) }),
  route('GET /things/{id}', 'thing', { ...common, params: z.object({ id: z.string() }), handle: () => ({ body: {} }) }),
  route('GET /query', 'query', { ...common, query: z.object({ horizon: z.string().optional() }), handle: () => ({ body: {} }) }),
  route('POST /body', 'body', { ...common, body, handle: () => ({ body: {} }) }),
  route('POST /fail/{id}', 'fail', {
    ...common,
    params: z.object({ id: z.string() }),
    body: z.looseObject({}),
    handle: ({ params, body }) => {
      throw new Error(`insert failed: ${JSON.stringify({ params, body })}`, { cause: new Error(JSON.stringify(body)) });
    },
  }),
];

let app: Served;
beforeAll(async () => {
  app = await serveApp(createApp(ROUTES, { log, identify, trustProxy: ['loopback'] }));
});
afterAll(() => app.close());
beforeEach(() => {
  lines = [];
});

const ask = (path: string, headers: Record<string, string> = {}, init: RequestInit = {}) => fetch(app.url + path, { ...init, headers });
const post = (path: string, text: string, headers: Record<string, string> = { 'Content-Type': 'application/json' }) =>
  ask(path, headers, { method: 'POST', body: text });

async function problemOf(response: Response): Promise<Record<string, unknown>> {
  expect(response.headers.get('content-type')).toContain('application/problem+json');
  const problem = (await response.json()) as Record<string, unknown>;
  expect(problem).toMatchObject({ success: false, status: response.status });
  return problem;
}

describe('every response', () => {
  it.each(['/short', '/nothing', '/things/%E0%A4%A'])('has strict security headers: %s', async (path) => {
    const { headers } = await ask(path);
    expect(headers.get('Content-Security-Policy')).toBe("default-src 'none';base-uri 'none';form-action 'none';frame-ancestors 'none'");
    expect(headers.get('X-Content-Type-Options')).toBe('nosniff');
    expect(headers.get('Referrer-Policy')).toBe('no-referrer');
    expect(headers.get('Cross-Origin-Resource-Policy')).toBe('cross-origin');
    expect(headers.get('Cross-Origin-Opener-Policy')).toBe('same-origin');
    expect(headers.get('Cache-Control')).toBe(path === '/short' ? 'no-cache' : 'no-store');
    expect(headers.get('X-Powered-By')).toBeNull();
    expect(headers.get('Strict-Transport-Security')).toBeNull();
  });

  it('through a trusted https proxy has HSTS', async () => {
    const { headers } = await ask('/short', { 'X-Forwarded-Proto': 'https' });
    expect(headers.get('Strict-Transport-Security')).toBe('max-age=31536000');
  });

  it.each(['/short', '/long'])('in JSON has the ETag of Express: %s', async (path) => {
    const { headers, text } = await ask(path).then(async (response) => ({ headers: response.headers, text: await response.text() }));
    const digest = createHash('sha1').update(text).digest('base64').slice(0, 27);
    expect(headers.get('ETag')).toBe(`W/"${Buffer.byteLength(text).toString(16)}-${digest}"`);
    expect(headers.get('Content-Type')).toBe('application/json; charset=utf-8');
  });

  it('with an error is not cacheable', async () => {
    expect((await ask('/nothing')).headers.get('Cache-Control')).toBe('no-store');
  });
});

it('of a page has its own CSP, which admits framing', async () => {
  const { headers } = await ask('/page');
  expect(headers.get('Content-Security-Policy')).toBe(PAGE_POLICY);
  expect(headers.get('X-Frame-Options')).toBeNull();
  expect(headers.get('Cache-Control')).toBe('max-age=60');
});

describe('another site', () => {
  const ORIGIN = { Origin: 'https://example.org' };

  it.each(['/short', '/nothing'])('may read public data and its headers, without credentials: %s', async (path) => {
    const { headers } = await ask(path, ORIGIN);
    expect(headers.get('Access-Control-Allow-Origin')).toBe('*');
    expect(headers.get('Access-Control-Allow-Credentials')).toBeNull();
    const exposed = headers.get('Access-Control-Expose-Headers')!.split(',');
    expect(exposed).toEqual(expect.arrayContaining(['RateLimit', 'RateLimit-Policy', 'Retry-After', 'ETag', 'X-Request-Id']));
  });

  it('may send a token, after a cacheable preflight', async () => {
    const wish = { ...ORIGIN, 'Access-Control-Request-Method': 'DELETE', 'Access-Control-Request-Headers': 'authorization' };
    const { status, headers } = await ask('/body', wish, { method: 'OPTIONS' });
    expect(status).toBe(204);
    expect(headers.get('Access-Control-Allow-Headers')!.split(',')).toEqual(expect.arrayContaining(['Authorization', 'Content-Type']));
    expect(headers.get('Access-Control-Allow-Methods')).toBe('GET,HEAD,POST,PUT,PATCH,DELETE');
    expect(headers.get('Access-Control-Max-Age')).toBe('7200');
  });
});

describe('compression', () => {
  /** As it came, since `fetch` unpacks. */
  function packed(path: string, headers: Record<string, string>) {
    return new Promise<{ encoding: string | undefined; vary: string | undefined; bytes: Buffer }>((resolve, reject) => {
      const request = httpRequest(app.url + path, { headers, agent: false }, (response) => {
        const chunks: Buffer[] = [];
        const { 'content-encoding': encoding, vary } = response.headers;
        response.on('data', (chunk) => chunks.push(chunk)).on('end', () => resolve({ encoding, vary, bytes: Buffer.concat(chunks) }));
      });
      request.on('error', reject).end();
    });
  }

  it.each([
    ['gzip', gunzipSync],
    ['br', brotliDecompressSync],
  ] as const)('applies %s to long responses', async (encoding, unpack) => {
    const answer = await packed('/long', { 'Accept-Encoding': encoding });
    expect(answer.encoding).toBe(encoding);
    expect(answer.vary).toContain('Accept-Encoding');
    expect(answer.bytes.length).toBeLessThan(LONG.length / 10);
    expect(JSON.parse(unpack(answer.bytes).toString())).toEqual({ text: LONG });
  });

  it.each([
    ['a short answer', '/short', {}],
    ['one to a token', '/long', { Authorization: 'Bearer x' }],
    ['one to a payment', '/long', { 'X-402-Payment': 'x' }],
    ['events', '/events', {}],
  ] as const)('leaves %s uncompressed', async (_what, path, headers) => {
    expect((await packed(path, { 'Accept-Encoding': 'gzip, br', ...headers })).encoding).toBeUndefined();
  });
});

describe('a body', () => {
  it.each([
    ['{"name":', 400, 'INPUT_INVALID', 'body'],
    ['"text"', 400, 'INPUT_INVALID', 'body'],
    ['null', 400, 'INPUT_INVALID', 'body'],
    ['[]', 400, 'INPUT_INVALID', 'body'],
    ['{}', 400, 'INPUT_INVALID', 'name'],
    ['{"name":"a","__proto__":{"admin":true}}', 400, 'INPUT_INVALID', '__proto__'],
    ['{"name":"a","constructor":{"prototype":{"admin":true}}}', 400, 'INPUT_INVALID', 'constructor'],
    [`{"name":${'['.repeat(30_000)}`, 400, 'INPUT_INVALID', 'body'],
    [`{"name":${'['.repeat(30_000)}${']'.repeat(30_000)}}`, 400, 'INPUT_INVALID', 'name'],
    [`{"name":"${'x'.repeat(65_536)}"}`, 413, 'PAYLOAD_TOO_LARGE', 'body'],
  ])('%.60s... is rejected with the reason', async (text, status, code, field) => {
    expect(await problemOf(await post('/body', text))).toMatchObject({ status, code, field });
    expect(({} as Record<string, unknown>).admin).toBeUndefined();
  });

  it('is accepted at any depth where any JSON is allowed', async () => {
    expect((await post('/body', `{"name":"a","list":${'['.repeat(20_000)}${']'.repeat(20_000)}}`)).status).toBe(200);
  });

  it.each([
    ['application/json; charset=iso-8859-1', {}],
    ['application/json', { 'Content-Encoding': 'gzip' }],
    ['text/plain', {}],
    ['application/x-www-form-urlencoded', {}],
  ])('of an unsupported type returns 415: %s', async (type, more) => {
    const problem = await problemOf(await post('/body', '{"name":"a"}', { 'Content-Type': type, ...more }));
    expect(problem).toMatchObject({ status: 415, code: 'UNSUPPORTED_MEDIA_TYPE' });
  });

  it('is not parsed where none is declared', async () => {
    const answer = await rawExchange(
      app.url,
      'GET /short HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 5\r\nConnection: close\r\n\r\n{ no ',
    );
    expect(answer).toContain('HTTP/1.1 200');
  });
});

describe('a query or a path', () => {
  it('with a repeated parameter is rejected by name, unless undeclared', async () => {
    expect(await problemOf(await ask('/query?horizon=1&horizon=2'))).toMatchObject({ status: 400, field: 'horizon' });
    expect((await ask('/query?__proto__=x&constructor=y&list[]=1&a=%E0%A4%A')).status).toBe(200);
  });

  it('with malformed percent-encoding is rejected', async () => {
    expect(await problemOf(await ask('/things/%E0%A4%A'))).toMatchObject({ status: 400, code: 'INPUT_INVALID', field: 'path' });
  });

  it('beyond the length limit is rejected', async () => {
    expect(await problemOf(await ask(`/query?horizon=${'1'.repeat(4_096)}`))).toMatchObject({ status: 414, code: 'URL_TOO_LONG' });
  });
});

describe('a client that does not speak HTTP', () => {
  it.each([
    ['a foreign protocol', 'SSH-2.0-OpenSSH_9.2\r\n\r\n', 400],
    ['a space in a header name', 'GET /short HTTP/1.1\r\nHost: x\r\nBad Name: y\r\n\r\n', 400],
    ['two lengths', 'POST /body HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n', 400],
    ['length and chunks', 'POST /body HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n', 400],
    ['headers without end', `GET /short HTTP/1.1\r\nHost: x\r\nX-Long: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
  ])('gets a problem document and is disconnected: %s', async (_what, bytes, status) => {
    const answer = await rawExchange(app.url, bytes);
    expect(answer).toContain(`HTTP/1.1 ${status} `);
    expect(answer).toContain('Content-Type: application/problem+json');
    expect(bodyOf(answer)).toMatchObject({ status, success: false, code: expect.any(String) });
  });

  it.each([
    ['head', 'GET /short HTTP/1.1\r\nHost: x\r\nX-Slow: '],
    ['body', 'POST /body HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n{"name":'],
  ])('or sends its %s too slowly is disconnected', async (_what, bytes) => {
    const server = await listen(createApp(ROUTES, { log, identify }), 0, '127.0.0.1', { timeouts: { headersMs: 100, requestMs: 200 } });
    const { socket, ended } = rawConnection(`http://127.0.0.1:${server.port}`);
    socket.write(bytes);
    expect(await ended).toContain('HTTP/1.1 408 ');
    await server.close();
  });
});

describe('a request id', () => {
  it('is that of the caller where it is a plain token', async () => {
    const id = `build_42-${'a'.repeat(55)}`;
    expect((await ask('/short', { 'X-Request-Id': id })).headers.get('X-Request-Id')).toBe(id);
    await expect.poll(() => lines.join('')).toContain(`"requestId":"${id}"`);
  });

  it('stands in the log beside the trace that the caller continues', async () => {
    const traceId = randomBytes(16).toString('hex');
    await ask('/short', { 'X-Request-Id': 'traced', traceparent: `00-${traceId}-b7ad6b7169203331-01` });
    const logged = () => lines.map((line) => JSON.parse(line)).find(({ requestId }) => requestId === 'traced');
    await expect.poll(logged).toMatchObject({ traceId, msg: 'request' });
  });

  it.each(['', 'a b', 'x'.repeat(65), '<script>', 'a"b', 'a,b', 'ä'])('is generated where that of the caller is not: %s', async (id) => {
    const made = (await ask('/short', { 'X-Request-Id': id })).headers.get('X-Request-Id');
    expect(made).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  });

  it('is absent from errors of a lost database, which are transient', async () => {
    const response = await ask('/silent');
    const problem = await problemOf(response);
    expect(problem).toMatchObject({ status: 503, code: 'DATABASE_UNAVAILABLE', retryable: true });
    expect(response.headers.get('Retry-After')).toMatch(/^\d+$/);
    expect(JSON.stringify(problem)).not.toContain('10.0.0.7');
    expect(lines.join('')).not.toContain('request failed');
  });

  it('is in internal errors, and in the log with the cause', async () => {
    const response = await post('/fail/1', '{}');
    const problem = await problemOf(response);
    expect(problem).toMatchObject({ status: 500, code: 'INTERNAL', requestId: response.headers.get('X-Request-Id') });
    expect(JSON.stringify(problem)).not.toContain('insert failed');
    const failed = lines.find((line) => line.includes('request failed'))!;
    expect(JSON.parse(failed)).toMatchObject({
      requestId: problem.requestId,
      route: '/fail/:id',
      err: expect.stringContaining('insert failed'),
    });
    expect((await problemOf(await ask('/nothing'))).requestId).toBeUndefined();
  });
});

describe('the log', () => {
  const quiet = createLog({ level: 'info', secrets: [], write: (line) => void lines.push(line) });

  it('has a line per request with method, route, duration, address and wallet', async () => {
    await ask('/things/5?horizon=7', { Authorization: 'Bearer x', 'X-Forwarded-For': '203.0.113.9' });
    await expect.poll(() => lines.length).toBe(1);
    expect(JSON.parse(lines[0])).toMatchObject({
      level: 20,
      method: 'GET',
      route: '/things/:id',
      status: 200,
      ms: expect.any(Number),
      ip: '203.0.113.9',
      wallet: WALLET,
      msg: 'request',
    });
  });

  it('has errors only by default', async () => {
    const calm = await serveApp(createApp(ROUTES, { log: quiet, identify }));
    for (const path of ['/short', '/nothing', '/things/%E0%A4%A', '/body']) await fetch(calm.url + path);
    await fetch(`${calm.url}/fail/1`, { method: 'POST', body: '{}', headers: { 'Content-Type': 'application/json' } });
    await calm.close();
    expect(lines.map((line) => JSON.parse(line).msg)).toEqual(['request failed', 'request']);
    expect(JSON.parse(lines[1])).toMatchObject({ level: 30, status: 500 });
  });

  it('has a line a minute with statuses, reasons of refusals and the slowest, and nothing of who asked', async () => {
    const { observe, flush } = createRequestSummary(quiet);
    const calm = await serveApp(createApp(ROUTES, { log: createLog({ level: 'silent', secrets: [] }), identify, observeRequest: observe }));
    for (const path of ['/short', '/short', '/nothing?q=s3cr3t', '/things/%E0%A4%A']) await fetch(calm.url + path);
    await calm.close();
    flush();
    flush();
    expect(lines).toHaveLength(1);
    const { requests, statuses, refusals, slowest } = JSON.parse(lines[0]!);
    expect({ requests, statuses, refusals }).toEqual({
      requests: 4,
      statuses: { 200: 2, 400: 1, 404: 1 },
      refusals: { NOT_FOUND: 1, INPUT_INVALID: 1 },
    });
    expect(slowest).toHaveLength(3);
    expect(slowest[0]).toMatchObject({ method: 'GET', ms: expect.any(Number), tier: 'public' });
    expect(lines[0]).not.toMatch(/s3cr3t|127\.0\.0\.1/);
  });

  it('warns once of an untrusted proxy', async () => {
    const calm = await serveApp(createApp(ROUTES, { log: quiet, identify }));
    for (const ip of ['203.0.113.1', '203.0.113.2']) await fetch(`${calm.url}/short`, { headers: { 'X-Forwarded-For': ip } });
    await calm.close();
    expect(lines.map((line) => JSON.parse(line).msg)).toEqual([expect.stringContaining('set TRUST_PROXY')]);
    expect(lines.join('')).not.toContain('203.0.113');
  });

  it('contains no secret of a request', async () => {
    const marked = (place: string) => `s3cr3t-${place}-marker`;
    const headers = {
      Authorization: `Bearer ${marked('bearer')}`,
      Cookie: `session=${marked('cookie')}; other=${marked('other')}`,
      'X-402-Payment': marked('payment'),
      'X-Api-Key': marked('header'),
      'User-Agent': marked('agent'),
      Referer: `https://example.org/?token=${marked('referer')}`,
      'Content-Type': 'application/json',
    };
    const text = JSON.stringify({ signature: marked('signature'), nested: [{ secret: marked('nested') }] });
    const query = `?token=${marked('query')}`;
    const statuses: number[] = [];
    for (const path of [`/fail/${marked('path')}${query}`, `/body${query}`, `/${marked('unknown')}${query}`, `/short${query}`]) {
      statuses.push((await ask(path, headers, { method: 'POST', body: text })).status);
    }
    statuses.push((await ask(`/body${query}`, headers, { method: 'POST', body: `{ ${marked('malformed')}` })).status);
    expect(statuses).toEqual([500, 400, 404, 405, 400]);
    await expect.poll(() => lines.length).toBe(6);
    expect(lines.join('')).not.toContain('s3cr3t');
    expect(lines.join('')).not.toContain('marker');
  });
});

describe('a shutdown', () => {
  /** Serves `/slow`, which responds on demand. */
  async function stoppable(): Promise<{ server: HttpServer; url: string; stop: AbortController; arrived: Promise<void>; answer(): void }> {
    const arrived = Promise.withResolvers<void>();
    const released = Promise.withResolvers<void>();
    const slow = route('GET /slow', 'slow', {
      ...common,
      async handle() {
        arrived.resolve();
        await released.promise;
        return { body: {} };
      },
    });
    const stop = new AbortController();
    const options: AppOptions = { log, identify, stopping: stop.signal };
    const server = await listen(createApp([slow, ...ROUTES], options), 0, '127.0.0.1', { stopping: stop.signal });
    return { server, url: `http://127.0.0.1:${server.port}`, stop, arrived: arrived.promise, answer: released.resolve };
  }

  const GET = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;

  it('drains pending requests, rejects later ones and closes connections', async () => {
    const { server, url, stop, arrived, answer } = await stoppable();
    const [slow, idle] = [rawConnection(url), rawConnection(url)];
    slow.socket.write(GET('/slow'));
    idle.socket.write(GET('/short'));
    await Promise.all([arrived, idle.until(/\r\n\r\n\{\}/)]);

    stop.abort();
    idle.socket.write(GET('/ready'));
    const refused = await idle.ended;
    expect(refused).toContain('HTTP/1.1 503 ');
    expect(refused).toMatch(/\r\nConnection: close\r\n/);
    expect(refused).toMatch(/\r\nRetry-After: 5\r\n/);
    expect(bodyOf(refused)).toMatchObject({ code: 'SHUTTING_DOWN', retryable: true });

    const closing = server.close();
    answer();
    const finished = await slow.ended;
    expect(finished).toContain('HTTP/1.1 200 ');
    expect(finished).toMatch(/\r\nConnection: close\r\n/);
    await Promise.all([closing, server.close()]);
    await expect(fetch(url)).rejects.toThrow();
  });

  it('does not wait for a client that never completes its request', async () => {
    const { server, url } = await stoppable();
    const { socket, ended } = rawConnection(url);
    socket.write('POST /body HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n');
    await new Promise<void>((connected) => socket.once('connect', connected));
    await server.close();
    await ended;
  });
});

it('during startup reports alive and not ready', async () => {
  const starting = await serveApp(createStartingApp({ log, publicUrl: 'http://127.0.0.1', setup: createStartupProgress() }));
  expect((await fetch(`${starting.url}/health`)).status).toBe(200);
  expect(await problemOf(await fetch(`${starting.url}/ready`))).toMatchObject({ status: 503, code: 'STEP_WAITING' });
  await starting.close();
});
