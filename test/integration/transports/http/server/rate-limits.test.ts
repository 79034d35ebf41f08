import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { composeAppOptions } from '../../../../../src/app/transports.ts';
import { type Caller, PUBLIC_CALLER } from '../../../../../src/auth/caller.ts';
import { loadConfig } from '../../../../../src/config.ts';
import type { Context } from '../../../../../src/context.ts';
import { OracleError } from '../../../../../src/errors.ts';
import { MAX_CHAIN_WORK } from '../../../../../src/http/admission.ts';
import type { AppOptions } from '../../../../../src/http/request.ts';
import { route } from '../../../../../src/http/route.ts';
import { createApp } from '../../../../../src/http/server.ts';
import { createLog } from '../../../../../src/platform/log.ts';
import { type TestDatabase, testDatabase } from '../../../../support/database/database.ts';
import { type Served, serveApp } from '../../../../support/http/serve.ts';

/** In the middle of a window: 40 s are left of it. */
const NOW = Date.UTC(2026, 4, 1, 23, 59, 20);
const WALLET = '0x00000000000000000000000000000000000000Aa' as const;

const reply = z.object({ tier: z.string() });
const handle = ({ caller }: { caller: Caller }) => ({ body: { tier: caller.tier } });
const operation = { tag: 'service', summary: 'What a limit is tried on', reply, handle } as const;
/** Answers what waits for it when the test lets it. */
let chain = { answers: Promise.resolve() };
const ROUTES = [
  route('GET /public', 'public', { ...operation }),
  route('GET /chain', 'chain', { ...operation, cost: 'rpc' }),
  route('GET /slow-chain', 'slowChain', {
    ...operation,
    cost: 'rpc',
    async handle({ caller }) {
      await chain.answers;
      return handle({ caller });
    },
  }),
  route('GET /health', 'health', { ...operation, cost: 'free' }),
  route('GET /premium', 'premium', { ...operation, access: 'premium', cost: 'rpc' }),
  route('GET /paid', 'paid', {
    ...operation,
    access: 'paid',
    async handle({ context, caller, header }) {
      const [state, wallet = WALLET] = (header('X-PAYMENT') ?? '').split(' ') as [string, typeof WALLET?];
      const payer = { wallet, isProven: state !== 'forged' };
      if (state === 'slow') await chain.answers;
      if (state !== '') context.requirePaymentRoom(payer);
      if (state === 'bad' || state === 'forged') await context.countRejectedPayment(payer);
      return handle({ caller });
    },
  }),
  route('GET /admin', 'admin', { ...operation, access: 'admin' }),
  route('POST /admin/act', 'act', { ...operation, access: 'admin' }),
  route('POST /body', 'body', { ...operation, body: z.strictObject({ name: z.string() }) }),
];

let database: TestDatabase;
let nowMs: number;
let identified: number;
const served: Served[] = [];

beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.drop());
beforeEach(async () => {
  nowMs = NOW;
  identified = 0;
  await database.db.collection('request_counts').deleteMany({});
});
afterEach(async () => {
  await Promise.all(served.splice(0).map((app) => app.close()));
});

/** `good` is a Basic token, and `good-<n>` that of another wallet. */
async function identify(authorization: string | undefined): Promise<Caller> {
  identified += 1;
  if (authorization === undefined) return PUBLIC_CALLER;
  const [, number] = /^Bearer good(?:-(\d))?$/.exec(authorization) ?? [];
  if (!authorization.startsWith('Bearer good')) throw new OracleError('UNAUTHENTICATED', 'The token is not valid');
  return { tier: 'basic', wallet: number === undefined ? WALLET : `0x${number.repeat(40)}` };
}

function admin(authorization: string | undefined): void {
  if (authorization !== 'Basic right') throw new OracleError('UNAUTHENTICATED', 'The password is not right');
}

/** A process of the service on the database, as its settings make it. */
async function start(environment: Record<string, string> = {}, more: Partial<AppOptions> = {}) {
  // Limits alone: on a machine under load some of many requests at once would be shed.
  const context = {
    config: loadConfig(environment),
    db: database.db,
    log: createLog({ level: 'silent', secrets: [] }),
    shutdown: { signal: new AbortController().signal },
    now: () => new Date(nowMs),
    record: { known: { revision: 0, isStale: false } },
  } as unknown as Context;
  const { loadShedder: _, ...door } = composeAppOptions(context, { identify, admin });
  const app = await serveApp(createApp(ROUTES, { ...door, ...more }));
  served.push(app);
  return (path: string, headers: Record<string, string> = {}, init: RequestInit = {}) => fetch(app.url + path, { ...init, headers });
}

type Ask = Awaited<ReturnType<typeof start>>;

/** The statuses of so many requests, and how many had each. */
async function statuses(ask: Ask, requests: number, path: string, headers?: Record<string, string>): Promise<Record<number, number>> {
  const counts: Record<number, number> = {};
  for (let request = 0; request < requests; request++) {
    const { status } = await ask(path, headers);
    counts[status] = (counts[status] ?? 0) + 1;
  }
  return counts;
}

const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });

describe('without a token', () => {
  it('an address has 60 requests a minute, with the remaining quota in every response and Retry-After in the 429', async () => {
    const ask = await start();
    const first = await ask('/public');
    expect(first.status).toBe(200);
    expect(first.headers.get('RateLimit-Policy')).toBe('"public";q=60;w=60');
    expect(first.headers.get('RateLimit')).toBe('"public";r=59;t=40');
    expect(await statuses(ask, 59, '/public')).toEqual({ 200: 59 });

    const refused = await ask('/public');
    expect(refused.status).toBe(429);
    expect(refused.headers.get('Retry-After')).toBe('40');
    expect(refused.headers.get('RateLimit')).toBe('"public";r=0;t=40');
    expect(refused.headers.get('RateLimit-Policy')).toBe('"public";q=60;w=60');
    expect(refused.headers.get('Cache-Control')).toBe('no-store');
    expect(refused.headers.get('content-type')).toContain('application/problem+json');
    expect(await refused.json()).toMatchObject({
      status: 429,
      code: 'RATE_LIMITED',
      detail: 'The limit of 60 requests per minute of one address is reached',
      retryable: true,
      policy: 'public',
      limit: 60,
      windowSeconds: 60,
      suggestedAction: expect.stringContaining('Wait 40 s'),
    });
    nowMs += 40_000;
    expect((await ask('/public')).headers.get('RateLimit')).toBe('"public";r=59;t=60');
  });

  it('chain calls are also limited to 10 a minute, for any caller', async () => {
    const ask = await start();
    const first = await ask('/chain');
    expect(first.headers.get('RateLimit-Policy')).toBe('"public";q=60;w=60, "rpc";q=10;w=60');
    expect(first.headers.get('RateLimit')).toBe('"public";r=59;t=40, "rpc";r=9;t=40');
    expect(await statuses(ask, 11, '/chain')).toEqual({ 200: 9, 429: 2 });
    expect((await ask('/chain', bearer('good'))).status).toBe(429);
    expect(await (await ask('/chain')).json()).toMatchObject({
      detail: 'The limit of 10 chain-call requests per minute of one address is reached',
      policy: 'rpc',
      limit: 10,
    });
    expect((await ask('/public')).status).toBe(200);
  });

  it('unknown paths, wrong methods and tier rejections count like other requests', async () => {
    const ask = await start({ RATE_LIMIT_PUBLIC: '4' });
    expect((await ask('/nothing')).status).toBe(404);
    expect((await ask('/public', {}, { method: 'DELETE' })).status).toBe(405);
    expect((await ask('/premium')).status).toBe(401);
    expect((await ask('/public')).headers.get('RateLimit')).toContain('r=0');
    expect((await ask('/nothing')).status).toBe(429);
    expect((await ask('/public', {}, { method: 'DELETE' })).status).toBe(429);
    expect((await ask('/premium')).status).toBe(429);
  });

  it('probe paths are unmetered, with or without a token', async () => {
    const ask = await start({ RATE_LIMIT_PUBLIC: '1' });
    expect(await statuses(ask, 5, '/health')).toEqual({ 200: 5 });
    const probe = await ask('/health', bearer('bad'));
    expect([probe.status, probe.headers.get('RateLimit')]).toEqual([200, null]);
    expect(identified).toBe(0);
    expect((await ask('/public')).status).toBe(200);
  });

  it('a 429 is sent before the body is read', async () => {
    const ask = await start({ RATE_LIMIT_PUBLIC: '1' });
    await ask('/public');
    const body = { method: 'POST', body: '{ not JSON' };
    expect((await ask('/body', { 'Content-Type': 'application/json' }, body)).status).toBe(429);
  });
});

describe('with a token', () => {
  it('a wallet has 300 requests a minute, independent of its address', async () => {
    const ask = await start();
    await statuses(ask, 61, '/public');
    const first = await ask('/public', bearer('good'));
    expect(first.headers.get('RateLimit-Policy')).toBe('"wallet";q=300;w=60');
    expect(first.headers.get('RateLimit')).toBe('"wallet";r=299;t=40');
    expect(await statuses(ask, 300, '/public', bearer('good'))).toEqual({ 200: 299, 429: 1 });
    expect(await (await ask('/public', bearer('good'))).json()).toMatchObject({ policy: 'wallet', limit: 300 });
    expect((await ask('/public', bearer('good-1'))).status).toBe(200);
  });

  it('below the required tier, the wallet is counted, but no chain call', async () => {
    const ask = await start({ RATE_LIMIT_WALLET: '3' });
    const refused = await ask('/premium', bearer('good'));
    expect([refused.status, refused.headers.get('RateLimit')]).toEqual([403, '"wallet";r=2;t=40']);
    expect(await statuses(ask, 3, '/premium', bearer('good'))).toEqual({ 403: 2, 429: 1 });
  });

  it('that is rejected, a public operation treats the caller as anonymous, counts the address and sends invalid_token', async () => {
    const ask = await start();
    const answered = await ask('/public', bearer('bad'));
    expect([answered.status, answered.headers.get('RateLimit')]).toEqual([200, '"public";r=59;t=40']);
    expect(answered.headers.get('WWW-Authenticate')).toBe('Bearer realm="oracle", error="invalid_token"');
    expect(answered.headers.get('Access-Control-Expose-Headers')).toContain('WWW-Authenticate');
    expect(answered.headers.get('Cache-Control')).toBe('private, no-store');
    const gated = await ask('/premium', bearer('bad'));
    expect([gated.status, await gated.json()]).toMatchObject([401, { field: 'Authorization', detail: 'The token is not valid' }]);
    expect(gated.headers.get('WWW-Authenticate')).toBe('Bearer realm="oracle", error="invalid_token"');
  });

  it('that is rejected, the address is counted once per request', async () => {
    const ask = await start();
    expect((await ask('/public', bearer('bad'))).headers.get('RateLimit')).toBe('"public";r=59;t=40');
    expect(await statuses(ask, 61, '/public')).toEqual({ 200: 59, 429: 2 });
    expect((await ask('/public', bearer('bad'))).status).toBe(429);
  });

  it('that is rejected, the limits of an anonymous caller apply: chain calls count per address', async () => {
    const ask = await start({ RATE_LIMIT_RPC: '3' });
    expect(await statuses(ask, 2, '/chain', bearer('bad'))).toEqual({ 200: 2 });
    expect(await statuses(ask, 2, '/chain')).toEqual({ 200: 1, 429: 1 });
    expect((await ask('/chain', bearer('bad'))).status).toBe(429);
  });

  it('a flood of invalid ones is limited, without affecting valid ones of that address', async () => {
    const ask = await start();
    const counts: Record<number, number> = {};
    for (let request = 0; request < 100; request++) {
      const { status } = await ask('/public', bearer(`bad-${request}`));
      counts[status] = (counts[status] ?? 0) + 1;
    }
    expect(counts).toEqual({ 200: 60, 429: 40 });
    const good = await ask('/public', bearer('good'));
    expect([good.status, good.headers.get('RateLimit')]).toEqual([200, '"wallet";r=299;t=40']);
    const operator = await ask('/admin', { Authorization: 'Basic right' });
    expect(operator.status).toBe(200);
  });

  it('that cannot be verified, the address is counted: an unavailable store does not bypass the limit', async () => {
    const ask = await start(
      { RATE_LIMIT_PUBLIC: '2' },
      { identify: () => Promise.reject(new OracleError('DATABASE_UNAVAILABLE', 'down')) },
    );
    expect(await statuses(ask, 4, '/public', bearer('any'))).toEqual({ 503: 2, 429: 2 });
  });
});

describe('admin paths', () => {
  it('return 404 without a configured password', async () => {
    const ask = await start({}, { admin: undefined });
    const missing = await ask('/admin', { Authorization: 'Basic right' });
    const unknown = await ask('/nothing');
    expect([missing.status, missing.headers.get('WWW-Authenticate')]).toEqual([404, null]);
    expect(await missing.json()).toEqual({ ...((await unknown.json()) as object), instance: '/admin' });
    expect((await ask('/admin', {}, { method: 'POST' })).status).toBe(404);
  });

  it('have no CORS', async () => {
    const ask = await start();
    const preflight = (path: string) =>
      ask(path, { Origin: 'https://other.example', 'Access-Control-Request-Method': 'GET' }, { method: 'OPTIONS' });
    expect((await preflight('/public')).headers.get('Access-Control-Allow-Origin')).toBe('*');
    for (const path of ['/admin', '/admin/act', '/admin/nothing']) {
      expect((await preflight(path)).headers.get('Access-Control-Allow-Origin'), path).toBeNull();
    }
  });

  it('reject cross-site requests with a valid password', async () => {
    const ask = await start();
    const send = (site: string) => ask('/admin/act', { Authorization: 'Basic right', 'Sec-Fetch-Site': site }, { method: 'POST' });
    expect((await send('same-origin')).status).toBe(200);
    for (const site of ['cross-site', 'same-site']) expect((await send(site)).status, site).toBe(401);
  });

  it('require the password, do not count successes, and block guessing', async () => {
    const ask = await start();
    const challenge = await ask('/admin');
    expect([challenge.status, challenge.headers.get('WWW-Authenticate')]).toEqual([401, 'Basic realm="oracle admin", charset="UTF-8"']);
    expect(await statuses(ask, 70, '/admin', { Authorization: 'Basic right' })).toEqual({ 200: 70 });
    expect((await ask('/admin', { Authorization: 'Basic right' })).headers.get('WWW-Authenticate')).toBeNull();
    expect((await ask('/admin', { Authorization: 'Basic right' }, { method: 'POST' })).status).toBe(405);
    expect(await statuses(ask, 70, '/admin', { Authorization: 'Basic guess' })).toMatchObject({ 401: 59, 429: 11 });
    expect((await ask('/admin', { Authorization: 'Basic right' })).status).toBe(429);
  });
});

describe('two processes on one database', () => {
  it('share their counts', async () => {
    const [one, other] = [await start(), await start()];
    expect(await statuses(one, 30, '/public')).toEqual({ 200: 30 });
    expect(await statuses(other, 31, '/public')).toEqual({ 200: 30, 429: 1 });
    expect((await one('/public')).status).toBe(429);
    await statuses(one, 5, '/chain', bearer('good'));
    expect(await statuses(other, 10, '/chain', bearer('good'))).toEqual({ 200: 5, 429: 5 });
  });
});

describe('the client address', () => {
  const from = (forwarded: string) => ({ 'X-Forwarded-For': forwarded });

  it('is that of the socket, regardless of headers', async () => {
    const ask = await start({ RATE_LIMIT_PUBLIC: '2' });
    await ask('/public', from('198.51.100.1'));
    await ask('/public', { ...from('198.51.100.2'), Forwarded: 'for=198.51.100.2', 'X-Real-IP': '198.51.100.2' });
    expect((await ask('/public', from('198.51.100.3'))).status).toBe(429);
  });

  it.each(['1', 'loopback', '127.0.0.0/8,10.0.0.0/8'])(
    'is forwarded by the trusted proxy (%s), not invented by its client',
    async (proxies) => {
      const ask = await start({ RATE_LIMIT_PUBLIC: '2', TRUST_PROXY: proxies });
      await ask('/public', from('198.51.100.1'));
      await ask('/public', from('198.51.100.9, 198.51.100.1'));
      expect((await ask('/public', from('198.51.100.8, 198.51.100.1'))).status).toBe(429);
      expect((await ask('/public', from('198.51.100.2'))).status).toBe(200);
    },
  );

  it('is resolved through as many proxies as are trusted', async () => {
    const ask = await start({ RATE_LIMIT_PUBLIC: '1', TRUST_PROXY: '2' });
    await ask('/public', from('203.0.113.5, 198.51.100.1, 10.0.0.1'));
    expect((await ask('/public', from('203.0.113.6, 198.51.100.1, 10.0.0.2'))).status).toBe(429);
    expect((await ask('/public', from('198.51.100.1, 198.51.100.2, 10.0.0.1'))).status).toBe(200);
  });

  it('ignores proxies that a trusted proxy does not trust', async () => {
    const ask = await start({ RATE_LIMIT_PUBLIC: '1', TRUST_PROXY: '192.0.2.0/24' });
    await ask('/public', from('198.51.100.1'));
    expect((await ask('/public', from('198.51.100.2'))).status).toBe(429);
  });

  it('counts per /64 in IPv6', async () => {
    const ask = await start({ RATE_LIMIT_PUBLIC: '2', TRUST_PROXY: 'loopback' });
    await ask('/public', from('2001:db8:1:2::1'));
    await ask('/public', from('2001:db8:1:2:ffff::2'));
    expect((await ask('/public', from('2001:0db8:0001:0002::3'))).status).toBe(429);
    expect((await ask('/public', from('2001:db8:1:3::1'))).status).toBe(200);
  });

  it('that is malformed counts as the proxy', async () => {
    const ask = await start({ RATE_LIMIT_PUBLIC: '2', TRUST_PROXY: 'loopback' });
    await ask('/public', from('first'));
    await ask('/public', from('second'));
    expect((await ask('/public', from('third'))).status).toBe(429);
  });
});

describe('with a payment', () => {
  const PAYING = { 'X-PAYMENT': 'good' };
  const FEW = { RATE_LIMIT_PUBLIC: '2', RATE_LIMIT_WALLET: '5', RATE_LIMIT_RPC: '3' };

  it('an address has the limit of a wallet on paid operations, independent of requests without one', async () => {
    const ask = await start(FEW);
    expect(await statuses(ask, 3, '/paid')).toEqual({ 200: 2, 429: 1 });
    for (const name of ['PAYMENT-SIGNATURE', 'X-PAYMENT', 'X-402-Payment'])
      expect((await ask('/paid', { [name]: 'good' })).status, name).toBe(200);
    expect(await statuses(ask, 3, '/paid', PAYING)).toEqual({ 200: 2, 429: 1 });
    const refused = await ask('/paid', PAYING);
    expect(await refused.json()).toMatchObject({ code: 'RATE_LIMITED', policy: 'wallet', limit: 5 });
  });

  it('it counts as anonymous elsewhere, and for HEAD', async () => {
    const ask = await start(FEW);
    expect(await statuses(ask, 3, '/public', PAYING)).toEqual({ 200: 2, 429: 1 });
    expect((await ask('/paid', PAYING, { method: 'HEAD' })).status).toBe(429);
    expect((await ask('/paid', PAYING)).status).toBe(200);
  });

  it('a token is ignored, and its limit not used', async () => {
    const ask = await start(FEW);
    expect(await statuses(ask, 3, '/paid', bearer('good'))).toEqual({ 200: 2, 429: 1 });
    expect(identified).toBe(0);
    expect(await statuses(ask, 1, '/public', bearer('good'))).toEqual({ 200: 1 });
  });

  const payment = (state: 'good' | 'bad' | 'forged', payer: number) => ({ 'X-PAYMENT': `${state} 0x${String(payer).padStart(40, '0')}` });
  const MORE = { RATE_LIMIT_PUBLIC: '8', RATE_LIMIT_WALLET: '100', RATE_LIMIT_RPC: '3' };

  it('a payer with too many rejected payments is rejected, unlike others behind the address', async () => {
    const ask = await start(MORE);
    expect(await statuses(ask, 4, '/paid', payment('bad', 1))).toEqual({ 200: 3, 429: 1 });
    const refused = await ask('/paid', payment('good', 1));
    expect([refused.status, await refused.json()]).toMatchObject([429, { policy: 'payer', limit: 3 }]);
    expect((await ask('/paid', payment('good', 2))).status).toBe(200);
    expect(await statuses(ask, 4, '/chain')).toEqual({ 200: 3, 429: 1 });
    nowMs += 40_000;
    expect((await ask('/paid', payment('good', 1))).status).toBe(200);
  });

  it('an address that invents payers is rejected', async () => {
    const ask = await start(MORE);
    for (let payer = 1; payer <= 8; payer++) expect((await ask('/paid', payment('bad', payer))).status).toBe(200);
    const refused = await ask('/paid', payment('good', 9));
    expect([refused.status, await refused.json()]).toMatchObject([429, { policy: 'payments', limit: 8 }]);
  });

  it('an unproven payer is not charged with rejected payments', async () => {
    const ask = await start({ ...MORE, TRUST_PROXY: '1' });
    const from = (address: string) => ({ 'X-Forwarded-For': address });
    expect(await statuses(ask, 4, '/paid', { ...payment('forged', 1), ...from('198.51.100.1') })).toEqual({ 200: 3, 429: 1 });
    for (const address of ['198.51.100.1', '198.51.100.2'])
      expect((await ask('/paid', { ...payment('good', 1), ...from(address) })).status).toBe(200);
    expect((await ask('/paid', { ...payment('forged', 1), ...from('198.51.100.2') })).status).toBe(200);
  });
});

describe('an IPv6 range', () => {
  const PROXIED = { TRUST_PROXY: '1', RATE_LIMIT_PUBLIC: '10', RATE_LIMIT_RPC: '2' };
  const from = (address: string, more: Record<string, string> = {}) => ({ 'X-Forwarded-For': address, ...more });
  const hex = (n: number) => n.toString(16);
  /** Addresses in /64s of their own, in one /56. */
  const inOne56 = (n: number) => from(`2001:db8:a:${hex(n)}::1`);
  /** Addresses in /56s of their own, in one /48. */
  const inOne48 = (n: number) => from(`2001:db8:b:${hex(n)}00::1`);

  /** The statuses of one request from each of so many addresses. */
  async function askFromEach(ask: Ask, path: string, count: number, addressOf: (n: number) => Record<string, string>) {
    const answers = await Promise.all(Array.from({ length: count }, (_, n) => ask(path, addressOf(n))));
    return Object.fromEntries([200, 429].map((wanted) => [wanted, answers.filter(({ status }) => status === wanted).length]));
  }

  it('has a budget of four addresses per /56, and of sixteen per /48', async () => {
    const ask = await start(PROXIED);
    expect(await askFromEach(ask, '/public', 45, inOne56)).toEqual({ 200: 40, 429: 5 });
    expect(await askFromEach(ask, '/public', 165, inOne48)).toEqual({ 200: 160, 429: 5 });
    expect((await ask('/public', from('2001:db8:c::1'))).status).toBe(200);
    const refused = await ask('/public', inOne56(90));
    expect(refused.headers.get('RateLimit-Policy')).toBe('"public";q=40;w=60');
    expect(await refused.json()).toMatchObject({
      code: 'RATE_LIMITED',
      detail: 'The limit of 40 requests per minute of one /56 is reached',
      ...{ policy: 'public', limit: 40, scope: '/56', windowSeconds: 60 },
    });
    expect((await ask('/public', { ...inOne56(91), ...bearer('good') })).status).toBe(200);
  });

  it('counts chain calls, rejected tokens, payments and failed passwords alike', async () => {
    const ask = await start(PROXIED);
    expect(await askFromEach(ask, '/chain', 10, inOne56)).toEqual({ 200: 8, 429: 2 });
    const wrong = (n: number) => ({ ...from(`2001:db8:d:${hex(n)}::1`), ...bearer('wrong') });
    expect(await askFromEach(ask, '/public', 45, wrong)).toEqual({ 200: 40, 429: 5 });
    const guess = (n: number) => ({ ...from(`2001:db8:e:${hex(n)}::1`), Authorization: 'Basic wrong' });
    expect(await askFromEach(ask, '/admin', 45, guess)).toEqual({ 200: 0, 429: 5 });
    const bad = (n: number) => ({ ...from(`2001:db8:f:${hex(n)}::1`), 'X-PAYMENT': `bad 0x${hex(n).padStart(40, '0')}` });
    // Fewer at a time than one /56 may have under way.
    for (const first of [1, 21]) expect(await askFromEach(ask, '/paid', 20, (n) => bad(first + n))).toEqual({ 200: 20, 429: 0 });
    const refused = await ask('/paid', bad(41));
    expect([refused.status, await refused.json()]).toMatchObject([429, { policy: 'payments', scope: '/56', limit: 40 }]);
  });

  it('is shared by two processes, and an exhausted address does not exhaust its range', async () => {
    const [one, two] = [await start(PROXIED), await start(PROXIED)];
    const busy = from('2001:db8:a:1::1');
    expect(await statuses(one, 60, '/public', busy)).toEqual({ 200: 10, 429: 50 });
    const shared = await Promise.all([askFromEach(one, '/public', 30, inOne56), askFromEach(two, '/public', 30, inOne56)]);
    const admitted = shared.reduce((sum, { 200: count }) => sum + count, 0);
    expect(admitted).toBeLessThanOrEqual(30);
    expect(admitted).toBeGreaterThanOrEqual(26);
  });

  it('writes no counts for addresses of an exhausted range', async () => {
    const ask = await start(PROXIED);
    await askFromEach(ask, '/public', 45, inOne56);
    const before = await database.db.collection('request_counts').countDocuments();
    await askFromEach(ask, '/public', 50, (n) => inOne56(100 + n));
    expect(await database.db.collection('request_counts').countDocuments()).toBe(before);
  });
});

describe('pending chain calls', () => {
  const { perClient, per56, per48, anonymous, anonymousAndPayers } = MAX_CHAIN_WORK;

  it('reserve shares for payers and token holders, and limit a range to a part of the rest', async () => {
    const ask = await start({ TRUST_PROXY: '1', RATE_LIMIT_PUBLIC: '1000', RATE_LIMIT_RPC: '1000' });
    const { promise, resolve: release } = Promise.withResolvers<void>();
    chain = { answers: promise };
    onTestFinished(() => release());
    const asked: Promise<Response>[] = [];
    const refusals: number[] = [];
    /** Sends so many requests, and waits until so many of all are refused. */
    async function send(path: string, count: number, refused: number, headersOf: (n: number) => Record<string, string>) {
      const sent = Array.from({ length: count }, (_, n) => ask(path, headersOf(n)));
      for (const one of sent) one.then(({ status }) => status === 429 && refusals.push(status)).catch(() => undefined);
      asked.push(...sent);
      await expect.poll(() => refusals.length).toBe(refused);
    }
    const hex = (n: number) => n.toString(16);
    const address = (n: number) => ({ 'X-Forwarded-For': `198.51.100.${n}` });
    await send('/slow-chain', perClient + 1, 1, () => address(0));
    await send('/slow-chain', per56 + 1, 2, (n) => ({ 'X-Forwarded-For': `2001:db8:a:${hex(n)}::1` }));
    await send('/slow-chain', per48 + 1, 3, (n) => ({ 'X-Forwarded-For': `2001:db8:b:${hex(n)}00::1` }));
    await send('/slow-chain', anonymous - perClient - per56 - per48 + 1, 4, (n) => address(n + 1));
    await send('/paid', anonymousAndPayers - anonymous + 1, 5, (n) => ({ ...address(n + 1), 'X-PAYMENT': 'slow' }));
    const holder = ask('/slow-chain', { ...address(1), ...bearer('good') });
    expect((await ask('/health')).status).toBe(200);
    const refused = await ask('/slow-chain', address(200));
    expect([refused.status, refused.headers.get('Retry-After')]).toEqual([429, '5']);
    release();
    expect((await holder).status).toBe(200);
    const statuses = (await Promise.all(asked)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(anonymousAndPayers);
    expect((await ask('/slow-chain', address(200))).status).toBe(200);
  });
});
