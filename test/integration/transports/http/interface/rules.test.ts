import fc from 'fast-check';
import { encodeFunctionData, type Hex, parseAbi, parseUnits } from 'viem';
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { composeAppOptions, composeAuth } from '../../../../../src/app/transports.ts';
import { createChain } from '../../../../../src/chain/client.ts';
import { loadConfig } from '../../../../../src/config.ts';
import { callJsonRpc, sendTransactions } from '../../../../../src/dev/local-chain/contracts.ts';
import { toConfidence } from '../../../../../src/forecast/signal.ts';
import type { Route } from '../../../../../src/http/route.ts';
import { allRoutes } from '../../../../../src/http/routes.ts';
import { createApp } from '../../../../../src/http/server.ts';
import type { Services } from '../../../../../src/http/services.ts';
import { getStepDueMs } from '../../../../../src/pipeline/forecaster.ts';
import { type ForecastDoc, formatForecastId } from '../../../../../src/record/forecast-doc.ts';
import { demoWallets, signedLogin } from '../../../../support/auth/login.ts';
import { openAsk } from '../../../../support/http/ask.ts';
import { fieldsOf, pathOfRequest, sampleRequest } from '../../../../support/http/request-fields.ts';
import { type Served, serveApp } from '../../../../support/http/serve.ts';
import { SPEC_PATHS } from '../../../../support/http/spec-paths.ts';
import { between } from '../../../../support/record/arbitraries.ts';
import { HARDLY_LIMITED, type TestService, today, unresolvedService } from '../../../../support/service/service.ts';

const abi = parseAbi(['function transfer(address to, uint256 value) returns (bool)']);
const DAYS = 3;
const MINUTE = 60_000;

/** Section 1: what the tiers ask for, in whole gate tokens. */
const BASIC = '500000000';
const PREMIUM = '1000000000';
const LEAST = '0.000000000000000001';

let service: TestService;
let served: Served;
let client: ReturnType<typeof openAsk>;
let parts: Services;
/** What the tests add to the clock, at most. */
const CLOCK_RUNS_MS = 8 * 60 * MINUTE;

let nowMs: number;
const now = () => new Date(nowMs);

beforeAll(async () => {
  service = await unresolvedService(DAYS);
  service.progress.complete();
  // Not later than the database's own clock, by which sessions end.
  nowMs = Math.min(getStepDueMs('signal', today() - 1), Date.now() - CLOCK_RUNS_MS);
  const { infrastructure, http } = service;
  const { rpcUrl } = infrastructure;
  const { chainId, addresses } = http.chain;
  const chain = await createChain({ rpcUrl, chainId, confirmations: 1, pollingIntervalMs: 20, addresses });
  const access = await composeAuth({ ...http, chain, now });
  parts = { ...http, access, now, viewFor: (caller) => ({ ...http.viewFor(caller), now: now() }) };
  ({ served, client } = await open(HARDLY_LIMITED));
});
afterAll(async () => {
  client?.close();
  await served?.close();
  await service?.stop();
});
// Signatures work once, and so do their times.
beforeEach(() => {
  nowMs += 10 * MINUTE;
});

/** Serves the service with the clock of the test, and its own limits. */
async function open(limits: Record<string, string>) {
  const identify = (authorization: string | undefined) => parts.access.identify(authorization);
  const adapterOptions = composeAppOptions({ ...service.http, config: loadConfig(limits), now }, { identify });
  const app = await serveApp(createApp(allRoutes(parts), adapterOptions));
  return { served: app, client: openAsk(app.url) };
}

const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });

async function ask(path: string, headers: Record<string, string> = {}, method = 'GET', body?: object) {
  const json = body === undefined ? {} : { body: JSON.stringify(body) };
  const answer = await client.ask(path, { method, headers: { ...headers, 'Content-Type': 'application/json' }, ...json });
  return { ...answer, body: JSON.parse(answer.text) };
}

const verify = (login: object) => ask('/api/svc/oracle/verify', {}, 'POST', login);

/** Section 4.2, by default at the current time. */
async function logIn(account: PrivateKeyAccount, timestamp = nowMs) {
  const { status, headers, body } = await verify(await signedLogin(account, timestamp));
  return { status, headers, body };
}

/** A wallet with gate tokens, in units of 10^-18. */
async function walletWith(units: bigint): Promise<PrivateKeyAccount> {
  const account = privateKeyToAccount(generatePrivateKey());
  await transfer(demoWallets(service).premium, account.address, units);
  return account;
}

/** Tokens of the Premium wallet are lent out, and come back. */
async function transfer(from: PrivateKeyAccount, to: Hex, units: bigint): Promise<void> {
  const { rpcUrl } = service.infrastructure;
  await callJsonRpc(rpcUrl, 'anvil_setBalance', from.address, '0x56bc75e2d63100000');
  const data = encodeFunctionData({ abi, functionName: 'transfer', args: [to, units] });
  await sendTransactions(rpcUrl, from, [{ to: service.http.chain.addresses.gateToken!, data }]);
}

const gatedRoutes = (...accesses: Route['access'][]) => allRoutes(parts).filter(({ access }) => accesses.includes(access));
/** Those that answer a plain request: handshakes are tried with sockets, in push/websocket. */
const gatedRequests = (...accesses: Route['access'][]) => gatedRoutes(...accesses).filter(({ isWebSocket }) => isWebSocket !== true);
/** Those whose single answers are not sold with the request, which 402 offers in place of 401 and 403. */
const unsoldRequests = (...accesses: Route['access'][]) => gatedRequests(...accesses).filter(({ isSold }) => isSold !== true);

async function askRoute(route: Route, headers: Record<string, string>) {
  const { params, query, body } = sampleRequest(route);
  return ask(pathOfRequest(route, { params, query }), headers, route.method.toUpperCase(), body);
}

describe('section 7: errors', () => {
  it('covers the gated operations of the interface', () => {
    const listed = SPEC_PATHS.filter(({ tier }) => tier === 'basic' || tier === 'premium');
    const gated = gatedRoutes('basic', 'premium').map(({ method, path, access }) => ({ method, path, access }));
    expect(listed.length).toBeGreaterThan(8);
    expect(gated).toEqual(expect.arrayContaining(listed.map(({ method, path, tier }) => ({ method, path, access: tier }))));
  });

  it('returns 401 without a token on a gated operation', async () => {
    for (const route of unsoldRequests('basic', 'premium')) {
      const { status, headers, body } = await askRoute(route, {});
      expect([status, body.code], route.name).toEqual([401, 'UNAUTHENTICATED']);
      expect(headers['www-authenticate']).toContain('Bearer');
    }
  });

  it('returns 401 for an expired token on a gated operation; a public one treats it as anonymous', async () => {
    const { token } = (await logIn(demoWallets(service).premium)).body;
    nowMs += 30 * MINUTE;
    for (const route of gatedRequests('basic', 'premium')) {
      const { status, headers, body } = await askRoute(route, bearer(token));
      expect([status, body.code, body.field], route.name).toEqual([401, 'UNAUTHENTICATED', 'Authorization']);
      expect([headers['www-authenticate'], body.detail]).toEqual([
        expect.stringContaining('invalid_token'),
        'The access token has expired',
      ]);
    }
    const { status, headers, body } = await ask('/api/svc/open/signal', bearer(token));
    expect([status, body]).toEqual([200, (await ask('/api/svc/open/signal')).body]);
    expect([body.signal, headers['www-authenticate']]).toEqual(['GATED', expect.stringContaining('invalid_token')]);
  });

  it('returns 403 at login below the Basic balance', async () => {
    const { status, headers, body } = await logIn(demoWallets(service).poor);
    expect([status, body.code]).toEqual([403, 'TIER_REQUIRED']);
    // No token was sent that could be worth too little.
    expect(headers['www-authenticate']).toBeUndefined();
    expect(body).toMatchObject({ balance: '0', requiredBalance: BASIC, requiredTier: 'basic' });
  });

  it('returns 403 on premium and copy-trade below the Premium balance', async () => {
    const { token } = (await logIn(demoWallets(service).basic)).body;
    const premium = gatedRoutes('premium');
    const paths = ['/api/svc/oracle/premium', '/api/svc/copy-trade/next', '/api/svc/copy-trade/history'];
    expect(premium.map(({ path }) => path)).toEqual(expect.arrayContaining(paths));
    for (const route of premium) {
      const { status, body } = await askRoute(route, bearer(token));
      expect([status, body.code, body.requiredTier, body.requiredBalance], route.name).toEqual([403, 'TIER_REQUIRED', 'premium', PREMIUM]);
    }
  });

  it('returns 403 on all gated operations once the balance falls below Basic', async () => {
    const account = await walletWith(parseUnits(BASIC, 18));
    const { token } = (await logIn(account)).body;
    expect((await ask('/api/svc/regime', bearer(token))).status).toBe(200);
    await transfer(account, demoWallets(service).premium.address, parseUnits(BASIC, 18));
    nowMs += 2 * MINUTE;
    for (const route of unsoldRequests('basic', 'premium')) {
      const { status, body } = await askRoute(route, bearer(token));
      expect([status, body.code, body.balance], route.name).toEqual([403, 'TIER_REQUIRED', '0']);
    }
  });

  it('returns 402 on an operation whose answer is sold, without a token and below its tier; sent tokens are not rejected', async () => {
    const { token } = (await logIn(demoWallets(service).basic)).body;
    const sold = gatedRequests('basic', 'premium').filter(({ isSold }) => isSold === true);
    expect(sold.map(({ name }) => name)).toEqual(['runPredictBtcDirection']);
    for (const route of sold) {
      const { status, body } = await askRoute(route, {});
      expect([status, body.code]).toEqual([402, 'PAYMENT_REQUIRED']);
      expect((await askRoute(route, bearer(token))).status).toBe(200);
    }
  });

  it('returns 404 for an unknown attestation', async () => {
    const { status, body } = await ask(`/api/svc/onchain-oracle/verify/0x${'0'.repeat(64)}`);
    expect([status, body.code, body.field]).toEqual([404, 'NOT_FOUND', 'uid']);
  });

  it('returns 429 beyond the limit on every oracle operation, with and without a token', async () => {
    const { token } = (await logIn(demoWallets(service).premium)).body;
    const oracle = allRoutes(parts).filter(({ path }) => path.startsWith('/api/svc/oracle'));
    expect(oracle.length).toBeGreaterThan(5);
    const one = { RATE_LIMIT_PUBLIC: '1', RATE_LIMIT_WALLET: '1', RATE_LIMIT_RPC: '1' };
    for (const route of oracle) {
      for (const headers of [{}, bearer(token)]) {
        nowMs += MINUTE;
        const adapterOptions = await open(one);
        const path = pathOfRequest(route, sampleRequest(route));
        const first = await adapterOptions.client.ask('/api/svc/open/signal', { headers });
        const { status, text, headers: answered } = await adapterOptions.client.ask(path, { method: route.method.toUpperCase(), headers });
        adapterOptions.client.close();
        await adapterOptions.served.close();
        expect([first.status, status, JSON.parse(text).code], route.name).toEqual([200, 429, 'RATE_LIMITED']);
        expect(Number(answered['retry-after']), route.name).toBeGreaterThan(0);
        expect(answered.ratelimit, route.name).toContain('r=0');
      }
    }
  });

  it('returns 400 for an invalid value in every field of every operation', async () => {
    const tokens = { ...bearer((await logIn(demoWallets(service).premium)).body.token) };
    const fields = fieldsOf(allRoutes(parts)).filter(({ route }) => route.access !== 'admin');
    expect(fields.length).toBeGreaterThan(20);
    for (const { route, place, name, label, schema } of fields) {
      const { params, query, body } = sampleRequest(route);
      const wrong = {
        params: place === 'path' ? { ...params, [name]: '!' } : params,
        query: place === 'query' ? `${query}&${name}=!` : query,
      };
      const value = schema.safeParse({ wrong: true }).success ? '!' : { wrong: true };
      const sent = place === 'body' ? { ...body, [name]: value } : body;
      const answer = await ask(pathOfRequest(route, wrong), route.access === 'public' ? {} : tokens, route.method.toUpperCase(), sent);
      expect([answer.status, answer.body.code, answer.body.field], label).toEqual([400, 'INPUT_INVALID', name]);
    }
  });
});

describe('section 8: gate balances', () => {
  it.each([
    ['one unit below Basic', [BASIC, `-${LEAST}`], 403, undefined, '499999999.999999999999999999'],
    ['Basic', [BASIC], 200, 'basic', BASIC],
    ['one unit below Premium', [PREMIUM, `-${LEAST}`], 200, 'basic', '999999999.999999999999999999'],
    ['Premium', [PREMIUM], 200, 'premium', PREMIUM],
  ])('%s', async (_, [amount, less = '0'], status, tier, balance) => {
    const units = parseUnits(amount, 18) + parseUnits(less, 18);
    const account = await walletWith(units);
    const login = await logIn(account);
    const read = await ask(`/api/svc/verify/${account.address}`);
    await transfer(account, demoWallets(service).premium.address, units);
    expect([login.status, login.body.tier, login.body.balance]).toEqual([status, status === 200 ? tier : 'public', balance]);
    expect([read.status, read.body.tier, read.body.balance]).toEqual([200, tier ?? 'public', balance]);
    expect(read.body.requirements).toEqual({
      basic: { balance: BASIC, met: tier !== undefined },
      premium: { balance: PREMIUM, met: tier === 'premium' },
    });
  });

  it('open oracle, regime and webhooks for Basic; premium and copy-trade for Premium', async () => {
    const { basic, premium } = demoWallets(service);
    const tokens = { basic: (await logIn(basic)).body.token, premium: (await logIn(premium)).body.token };
    const statusOf = async (path: string, tier: keyof typeof tokens) => (await ask(path, bearer(tokens[tier]))).status;
    for (const path of ['/api/svc/oracle', '/api/svc/regime', '/api/svc/regime/history', '/api/svc/webhooks']) {
      expect([await statusOf(path, 'basic'), await statusOf(path, 'premium')], path).toEqual([200, 200]);
    }
    for (const path of ['/api/svc/oracle/premium', '/api/svc/copy-trade/next', '/api/svc/copy-trade/history']) {
      expect([await statusOf(path, 'basic'), await statusOf(path, 'premium')], path).toEqual([403, 200]);
    }
  });
});

describe('section 8: session tokens', () => {
  it('expire after exactly 30 minutes', async () => {
    nowMs = Math.floor(nowMs / 1_000) * 1_000;
    const { token, expires_in: expiresIn, expiresAt } = (await logIn(demoWallets(service).basic)).body;
    expect([expiresIn, expiresAt]).toEqual([1_800, new Date(nowMs + 30 * MINUTE).toISOString()]);
    nowMs += 30 * MINUTE - 1_000;
    expect((await ask('/api/svc/oracle', bearer(token))).status).toBe(200);
    nowMs += 1_000;
    expect((await ask('/api/svc/oracle', bearer(token))).status).toBe(401);
  });
});

describe('section 8: the signature timestamp', () => {
  const WINDOW = 5 * MINUTE;

  it.each([
    ['5 minutes old, in milliseconds', -WINDOW, 1, 200],
    ['5 minutes and a millisecond old', -WINDOW - 1, 1, 401],
    ['5 minutes ahead, in milliseconds', WINDOW, 1, 200],
    ['5 minutes and a millisecond ahead', WINDOW + 1, 1, 401],
    ['5 minutes old, in seconds', -WINDOW, 1_000, 200],
    ['5 minutes and a second old, in seconds', -WINDOW - 1_000, 1_000, 401],
    ['5 minutes ahead, in seconds', WINDOW, 1_000, 200],
    ['5 minutes and a second ahead, in seconds', WINDOW + 1_000, 1_000, 401],
  ])('%s', async (_, offsetMs, unit, expected) => {
    nowMs = Math.floor(nowMs / 1_000) * 1_000;
    const { status, body } = await logIn(demoWallets(service).basic, (nowMs + offsetMs) / unit);
    expect([status, body.field]).toEqual([expected, expected === 200 ? undefined : 'timestamp']);
    expect(String((nowMs + offsetMs) / unit)).toHaveLength(unit === 1 ? 13 : 10);
  });

  it('is in the message of section 4.2', async () => {
    const { basic } = demoWallets(service);
    const timestamp = nowMs;
    const signature = await basic.signMessage({ message: `Verify svc balance: ${basic.address}:${timestamp}` });
    const { status, body } = await verify({ wallet: basic.address, signature, timestamp });
    expect([status, body.success, body.tier]).toEqual([200, true, 'basic']);
    const another = await basic.signMessage({ message: `Verify svc balance: ${basic.address}:${timestamp + 1}` });
    expect((await verify({ wallet: basic.address, signature: another, timestamp })).body).toMatchObject({
      status: 401,
      field: 'signature',
    });
  });
});

describe('section 8: list limits', () => {
  const COPIES = 110;

  /** More of the same, of earlier days: what is tried is where a list ends. */
  beforeAll(async () => {
    const { forecasts } = service.pipeline.record;
    const [first] = service.pipeline.record.known.listByHorizon(7);
    const copies = Array.from({ length: COPIES }, (_, index): ForecastDoc => {
      const day = first.day - index - 1;
      const uid: Hex = `0x${(index + 1).toString(16).padStart(64, '0')}`;
      const values = { ...first.values!, signal: 'BUY' as const };
      return { ...first, _id: formatForecastId(day, 7), day, sequence: -index, values, attestation: { ...first.attestation!, uid } };
    });
    await forecasts.insertMany(copies);
  });
  afterAll(() => service.pipeline.record.forecasts.deleteMany({ sequence: { $lte: 0 } }));

  it.each([
    ['/api/svc/onchain-oracle/history', 'public', 100, 30],
    ['/api/svc/copy-trade/history', 'premium', 90, 30],
  ] as const)('%s: limit', async (path, tier, most, fallback) => {
    const headers = tier === 'public' ? {} : bearer((await logIn(demoWallets(service).premium)).body.token);
    const answered = async (query: string) => {
      const { body } = await ask(`${path}${query}`, headers);
      return (body.data ?? body).length;
    };
    expect([await answered(''), await answered('?limit=1'), await answered(`?limit=${most}`)]).toEqual([fallback, 1, most]);
    for (const limit of [0, -1, most + 1, 1.5, '', 'all', '1e1']) {
      const { status, body } = await ask(`${path}?limit=${limit}`, headers);
      expect([status, body.field], String(limit)).toEqual([400, 'limit']);
    }
    const { paths } = (await ask('/.well-known/openapi.json')).body;
    const { schema } = paths[path].get.parameters.find(({ name }: { name: string }) => name === 'limit');
    expect(schema).toMatchObject({ type: 'integer', minimum: 1, maximum: most, default: fallback });
  });
});

describe('section 8: confidence', () => {
  it('is from .50 to .99 in every published forecast', async () => {
    const { token } = (await logIn(demoWallets(service).premium)).body;
    const answered: number[] = [];
    for (const horizon of ['2d', '3d', '7d']) {
      answered.push((await ask(`/api/svc/oracle?horizon=${horizon}`, bearer(token))).body.confidence);
      const scorecard = await ask(`/api/svc/scorecard?horizon=${horizon[0]}`, bearer(token));
      answered.push(...scorecard.body.predictions.map(({ confidence }: { confidence: number }) => confidence));
    }
    expect(answered).toHaveLength(3 + 3 * DAYS);
    for (const confidence of answered) {
      expect(confidence).toBeGreaterThanOrEqual(0.5);
      expect(confidence).toBeLessThanOrEqual(0.99);
    }
  });

  it('is bounded for any probability, and that of the likelier direction in between', () => {
    const probabilities = between(0, 1);
    fc.assert(
      fc.property(probabilities, (pUp) => {
        const confidence = toConfidence(pUp);
        expect(confidence).toBeGreaterThanOrEqual(0.5);
        expect(confidence).toBeLessThanOrEqual(0.99);
        if (pUp >= 0.01 && pUp <= 0.99) expect(confidence).toBe(Math.max(pUp, 1 - pUp));
      }),
    );
    expect([0, 0.01, 0.5, 0.99, 1].map(toConfidence)).toEqual([0.99, 0.99, 0.5, 0.99, 0.99]);
  });
});
