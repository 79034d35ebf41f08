import { encodeAbiParameters, keccak256, parseAbiParameters } from 'viem';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TIER_REQUIREMENTS } from '../../../../../src/auth/tiers.ts';
import { OracleError } from '../../../../../src/errors.ts';
import { formatDay, toInstantMs } from '../../../../../src/forecast/day.ts';
import { REGIME_NAMES, REGIMES } from '../../../../../src/forecast/regime.ts';
import type { Route } from '../../../../../src/http/route.ts';
import { copyTradeRoutes } from '../../../../../src/http/routes/copy-trade.ts';
import { regimeRoutes } from '../../../../../src/http/routes/market.ts';
import { oracleRoutes } from '../../../../../src/http/routes/signal.ts';
import { allRoutes } from '../../../../../src/http/routes.ts';
import type { Services } from '../../../../../src/http/services.ts';
import { getStepDueMs, getWindowOpensMs } from '../../../../../src/pipeline/forecaster.ts';
import { runStep } from '../../../../../src/pipeline/pipeline.ts';
import { computeStrikeProbability } from '../../../../../src/record/market.ts';
import { asTier, demoWallets } from '../../../../support/auth/login.ts';
import { contextAt } from '../../../../support/clock/trusted-time.ts';
import { withSignal } from '../../../../support/commerce/payments.ts';
import { undocumented } from '../../../../support/http/reply-schema.ts';
import { call, type Served, serve } from '../../../../support/http/serve.ts';
import { strikeSnapshot } from '../../../../support/market/strike-snapshot.ts';
import { knowing, NOTHING_KNOWN } from '../../../../support/record/forgetful.ts';
import { runPastDay, type TestService, testService, today } from '../../../../support/service/service.ts';

const DAYS = 10;
const TODAY = today();
const NEWEST = TODAY - 1;

let service: TestService;
let served: Served;
const headers: Record<'public' | 'basic' | 'premium', Record<string, string>> = { public: {}, basic: {}, premium: {} };

/** The parts at noon of the day after the newest forecast, and other changes. */
const partsWith = (changes: Partial<Services> = {}): Services => ({
  ...service.http,
  now: () => new Date(toInstantMs(TODAY, 12)),
  ...changes,
});

beforeAll(async () => {
  service = await testService(DAYS);
  for (let day = TODAY - DAYS; day < TODAY; day++) await runPastDay(service, day);
  await service.infrastructure.localChain!.followWallClock();
  service.progress.complete();
  served = await serve({ http: partsWith(), appOptions: service.appOptions }, allRoutes(partsWith()));
  for (const tier of ['basic', 'premium'] as const) headers[tier] = await asTier(service, tier);
});
afterAll(async () => {
  await served?.close();
  await service?.stop();
});

const fetchAs = (tier: keyof typeof headers, path: string) => fetch(`${served.url}${path}`, { headers: headers[tier] });

// biome-ignore lint/suspicious/noExplicitAny: bodies are what is tested
async function get(tier: keyof typeof headers, path: string): Promise<any> {
  const response = await fetchAs(tier, path);
  expect(response.status, path).toBe(200);
  return response.json();
}

const PATHS = {
  basic: ['/api/svc/oracle', '/api/svc/regime', '/api/svc/regime/history'],
  premium: ['/api/svc/oracle/premium', '/api/svc/copy-trade/next', '/api/svc/copy-trade/history'],
};

function routeOf(path: string, deps: Services = partsWith()): Route {
  const routes = [...oracleRoutes(deps), ...regimeRoutes(deps), ...copyTradeRoutes(deps)];
  return routes.find((route) => route.path === path)!;
}

/** What a gated route answers to a Premium caller, of parts of the test's own. */
async function asPremium(path: string, changes: Partial<Services>, horizon = 7) {
  const route = routeOf(path, partsWith(changes));
  const { body } = await call(route, { query: { horizon }, caller: { tier: 'premium', wallet: demoWallets(service).premium.address } });
  expect(undocumented(route.reply!, JSON.parse(JSON.stringify(body)))).toEqual([]);
  return body;
}

describe('the parameter horizon', () => {
  const paths = [
    '/api/svc/open/signal',
    '/api/svc/widget',
    '/api/svc/scorecard',
    '/api/svc/oracle',
    '/api/svc/oracle/premium',
    '/api/svc/copy-trade/history',
  ];
  it.each(paths)('accepts a name and a bare number, 1 included: %s', async (path) => {
    for (const days of [1, 2, 3, 7]) {
      const [named, bare] = await Promise.all([`${days}d`, days].map((horizon) => get('premium', `${path}?horizon=${horizon}`)));
      expect(bare).toEqual(named);
      expect(/history|widget/.test(path) ? `${days}d` : named.horizon).toBe(`${days}d`);
    }
  });

  it('accepts both for the next trade intent', async () => {
    for (const horizon of ['1', '1d', '7', '7d']) {
      const intent = await get('premium', `/api/svc/copy-trade/next?horizon=${horizon}`);
      expect(intent?.horizon ?? `${Number.parseInt(horizon, 10)}d`).toBe(`${Number.parseInt(horizon, 10)}d`);
    }
  });
});

describe('an abstention', () => {
  const newest = (rows: { status: string; type?: string }[]) => rows.find(({ type }) => type !== 'resolution')!;
  it('is HOLD from the start to those who may see it, and PENDING to all others until the reveal', async () => {
    await withSignal(service, 'HOLD', async () => {
      const seen = async (tier: 'public' | 'basic') => {
        const skill = async (id: string, input: object) => {
          const init = { method: 'POST', headers: { ...headers[tier], 'Content-Type': 'application/json' }, body: JSON.stringify(input) };
          const response = await fetch(`${served.url}/api/svc/skills/${id}`, init);
          // biome-ignore lint/suspicious/noExplicitAny: bodies are what is tested
          return ((await response.json()) as any).output;
        };
        const { data } = await get(tier, '/api/svc/onchain-oracle/latest');
        const verified = await get(tier, `/api/svc/onchain-oracle/verify/${data.uid}`);
        const answers = [
          await get(tier, '/api/svc/open/signal'),
          newest((await get(tier, '/api/svc/scorecard')).predictions),
          newest((await get(tier, '/api/svc/scorecard?limit=1')).predictions),
          data,
          newest((await get(tier, '/api/svc/onchain-oracle/history')).data),
          verified,
          newest((await skill('get_track_record', {})).entries),
          (await skill('verify_prediction', { predictionId: data.predictionId })).prediction,
          ...(tier === 'public' ? [] : [await get(tier, '/api/svc/oracle'), await skill('predict_btc_direction', {})]),
        ];
        return answers.map(({ signal, status }) => `${signal} ${status}`);
      };
      expect(new Set(await seen('basic'))).toEqual(new Set(['HOLD HOLD']));
      expect(new Set(await seen('public'))).toEqual(new Set(['GATED PENDING']));
      const { summary } = await get('public', '/api/svc/scorecard');
      expect((await get('basic', '/api/svc/scorecard')).summary).toEqual(summary);
    });
  });
});

describe('access control', () => {
  it.each([...PATHS.basic, ...PATHS.premium])('returns 401 without a token: %s', async (path) => {
    const response = await fetchAs('public', path);
    expect(response.status).toBe(401);
    expect(response.headers.get('www-authenticate')).toBe('Bearer realm="oracle"');
    expect(await response.json()).toMatchObject({ code: 'UNAUTHENTICATED', success: false });
  });

  it.each(PATHS.basic)('admits Basic and Premium, uncached: %s', async (path) => {
    for (const tier of ['basic', 'premium'] as const) {
      const response = await fetchAs(tier, path);
      expect(response.status).toBe(200);
      expect(response.headers.get('cache-control')).toBe('private, no-store');
      expect(undocumented(routeOf(path).reply!, await response.json())).toEqual([]);
    }
  });

  it.each(PATHS.premium)('admits Premium, and returns the requirement to Basic: %s', async (path) => {
    const refused = await fetchAs('basic', path);
    expect(refused.status).toBe(403);
    expect(refused.headers.get('www-authenticate')).toBe('Bearer realm="oracle", error="insufficient_scope"');
    expect(await refused.json()).toMatchObject({ code: 'TIER_REQUIRED', tier: 'basic', requiredTier: 'premium' });
    const response = await fetchAs('premium', path);
    expect(response.status).toBe(200);
    expect(response.headers.get('cache-control')).toBe('private, no-store');
    expect(undocumented(routeOf(path).reply!, await response.json())).toEqual([]);
  });

  it('is enforced in the core, also where a transport does not check', async () => {
    for (const path of ['/api/svc/oracle', '/api/svc/oracle/premium', '/api/svc/copy-trade/next']) {
      await expect(call(routeOf(path), { query: { horizon: 7 } })).rejects.toMatchObject({ code: 'TIER_REQUIRED' });
    }
  });
});

describe('invalid input', () => {
  it.each([
    ['/api/svc/oracle?horizon=4d', 'horizon'],
    ['/api/svc/oracle?horizon=8', 'horizon'],
    ['/api/svc/oracle?horizon=2d&horizon=3d', 'horizon'],
    ['/api/svc/oracle/premium?horizon=', 'horizon'],
    ['/api/svc/regime/history?limit=0', 'limit'],
    ['/api/svc/regime/history?limit=366', 'limit'],
    ['/api/svc/copy-trade/next?horizon=07d', 'horizon'],
    ['/api/svc/copy-trade/history?limit=91', 'limit'],
    ['/api/svc/copy-trade/history?limit=x', 'limit'],
  ])('%s returns an error that names %s', async (path, field) => {
    const response = await fetchAs('premium', path);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ code: 'INPUT_INVALID', field });
  });
});

/** What the interface names, by resource. */
const FIELDS: Record<string, string[]> = {
  '/api/svc/oracle':
    'signal confidence direction horizon btcPrice regime modelVersion timestamp accuracy_7d access.tier access.wallet access.requirement model_version'.split(
      ' ',
    ),
  '/api/svc/oracle/premium':
    'signal confidence direction horizon btcPrice regime modelVersion timestamp accuracy_7d access.tier access.wallet access.requirement model_version marketContext.fearGreed marketContext.etfFlows7d accuracy.last30d categories.trend.signal categories.trend.score categories.momentum.score categories.flow.signal categories.value.score market_context.btc_price market_context.fear_greed market_context.etf_flow_7d'.split(
      ' ',
    ),
  '/api/svc/regime':
    'regime description riskLevel timestamp factors.trendPosition factors.momentum factors.sentiment factors.volatility'.split(' '),
};

describe('the fields of the interface', () => {
  it.each(Object.entries(FIELDS))('are all in %s', async (path, fields) => {
    const body = await get('premium', path);
    for (const field of fields) {
      const value = field.split('.').reduce((part, key) => part?.[key], body);
      expect(value, field).not.toBeUndefined();
    }
    if (path !== '/api/svc/regime') expect(body.modelVersion).toBe(body.model_version);
  });
});

describe('the oracle signal', () => {
  it.each(['2d', '3d', '7d'])('of %s verifies on chain from the response alone', async (horizon) => {
    const body = await get('basic', `/api/svc/oracle?horizon=${horizon}`);
    expect(body).toMatchObject({ horizon, predictionId: `${formatDay(NEWEST)}:${horizon}`, replayed: true });
    expect(body.status).toBe(body.signal === 'HOLD' ? 'HOLD' : 'PENDING');
    const code = { HOLD: 0, BUY: 1, SELL: 2, UP: 1, DOWN: 2 } as const;
    const types = parseAbiParameters('bytes32, uint8, uint8, uint16, uint16, uint64');
    const commitment = keccak256(
      encodeAbiParameters(types, [
        body.salt,
        code[body.signal as keyof typeof code],
        code[body.direction as keyof typeof code],
        Math.round(body.confidence * 10_000),
        Math.round(body.pUp * 10_000),
        BigInt(Math.round(body.btcPrice * 100)),
      ]),
    );
    const onChain = await service.http.attestations.read(body.attestationUid);
    expect(commitment).toBe(onChain!.decoded.find(({ name }) => name === 'commitment')!.value);
    expect(body.commitment).toBe(commitment);
    const { salt, signal, direction, confidenceBps, pUpBps, btcPriceCents } = body.opening;
    expect(keccak256(encodeAbiParameters(types, [salt, signal, direction, confidenceBps, pUpBps, BigInt(btcPriceCents)]))).toBe(commitment);
    const { pathname } = new URL(body.verifyUrl);
    expect(await get('public', pathname)).toMatchObject({ verified: true, uid: body.attestationUid });
  });

  it('states the access rule that applied', async () => {
    const { access } = await get('basic', '/api/svc/oracle');
    expect(access.tier).toBe('basic');
    expect(access.wallet.toLowerCase()).toBe(demoWallets(service).basic.address.toLowerCase());
    expect(access.requirement).toContain(TIER_REQUIREMENTS.basic.toLocaleString('en-US'));
    expect((await get('premium', '/api/svc/oracle')).access.tier).toBe('premium');
  });

  it('has the accuracy of the last seven days with its sample size', async () => {
    const { accuracy_7d, accuracy7d, skill } = await get('basic', '/api/svc/oracle?horizon=2d');
    const docs = service.pipeline.record.known.listByHorizon(2);
    const recent = docs.filter(({ state, resolvesAt }) => /WIN|LOSS/.test(state) && resolvesAt.getTime() > toInstantMs(TODAY - 7, 12));
    const wins = recent.filter(({ state }) => state === 'WIN').length;
    expect(accuracy7d).toMatchObject({ days: 7, n: recent.length, wins, accuracy: accuracy_7d });
    expect(accuracy_7d).toBe(recent.length === 0 ? null : wins / recent.length);
    const scorecard = await get('public', '/api/svc/scorecard?horizon=2');
    expect(skill).toMatchObject({ verdict: scorecard.summary.verdict, scored: scorecard.summary.resolved });
    expect(skill.interval95).toEqual(scorecard.summary.accuracyInterval95);
    expect(skill).toMatchObject({ effectiveN: scorecard.statistics.calls.effectiveN, independent: scorecard.summary.dedupedTotal });
  });

  it('returns 503 before the first forecast', async () => {
    const record = knowing(service.http.record, NOTHING_KNOWN);
    for (const path of ['/api/svc/oracle', '/api/svc/oracle/premium', '/api/svc/copy-trade/next']) {
      await expect(asPremium(path, { record })).rejects.toMatchObject({ code: 'STEP_WAITING' });
    }
    const { body } = await call(routeOf('/api/svc/copy-trade/status', partsWith({ record })));
    expect(body).toMatchObject({ status: 'starting', lastSignalAt: null });
  });

  it('has a null attestation before it is on chain', async () => {
    const { forecasts } = service.pipeline.record;
    const _id = `${formatDay(NEWEST)}:7d`;
    const { attestation, state } = (await forecasts.findOne({ _id }))!;
    await forecasts.updateOne({ _id }, { $set: { attestation: null, state: 'DRAFT' } });
    const body = await asPremium('/api/svc/oracle', {});
    await forecasts.updateOne({ _id }, { $set: { attestation, state } });
    expect(body.status).toBe(body.signal === 'HOLD' ? 'HOLD' : 'PENDING');
    expect(body).toMatchObject({ attestationUid: null, txHash: null, attestedAt: null, verifyUrl: null });
  });
});

describe('after a missed day', () => {
  beforeAll(async () => {
    await runStep(service.pipeline, 'signal', TODAY, contextAt(getWindowOpensMs(TODAY)));
  });
  afterAll(async () => {
    await service.pipeline.record.days.deleteOne({ day: TODAY });
    await service.pipeline.record.forecasts.deleteMany({ day: TODAY });
  });

  it('the latest existing forecast is returned and marked', async () => {
    const now = () => new Date(getWindowOpensMs(TODAY) + 60_000);
    for (const path of ['/api/svc/oracle', '/api/svc/oracle/premium']) {
      expect(await asPremium(path, { now })).toMatchObject({
        date: formatDay(NEWEST),
        missedSince: formatDay(TODAY),
        stale: true,
        ageSeconds: (getWindowOpensMs(TODAY) + 60_000 - getStepDueMs('signal', NEWEST)) / 1000,
      });
    }
    expect(await asPremium('/api/svc/regime', { now })).toMatchObject({
      date: formatDay(NEWEST),
      missedSince: formatDay(TODAY),
      stale: true,
    });
    const { body } = await call(routeOf('/api/svc/copy-trade/status', partsWith({ now })));
    expect(body).toMatchObject({ status: 'stale', lastSignalAt: new Date(getStepDueMs('signal', NEWEST)).toISOString() });
    const history = await get('basic', '/api/svc/regime/history?limit=2');
    expect(history.days[0]).toMatchObject({ date: formatDay(TODAY), regime: null, missed: true });
  });

  it('nothing is stale until the next forecast is overdue', async () => {
    expect(await asPremium('/api/svc/oracle', { now: () => new Date(toInstantMs(TODAY, 21, 37)) })).toMatchObject({ stale: false });
    expect(await asPremium('/api/svc/oracle', { now: () => new Date(toInstantMs(TODAY, 21, 39)) })).toMatchObject({ stale: true });
  });
});

describe('the premium signal', () => {
  it('includes the Basic signal', async () => {
    const basic = await get('premium', '/api/svc/oracle?horizon=3d');
    const premium = await get('premium', '/api/svc/oracle/premium?horizon=3d');
    const { access: _, ...shared } = basic;
    expect(premium).toMatchObject(shared);
    expect(premium.access.requirement).toContain(TIER_REQUIREMENTS.premium.toLocaleString('en-US'));
  });

  it('has the market context in both spellings', async () => {
    const open = await get('public', '/api/svc/open/signal');
    const { marketContext, market_context } = await get('premium', '/api/svc/oracle/premium');
    expect(open.etfFlows7dThrough).toMatch(/^\d{4}-\d\d-\d\d$/);
    const { fearGreed, etfFlows7d, etfFlows7dThrough } = open;
    expect(marketContext).toEqual({ fearGreed, etfFlows7d, etfFlows7dThrough });
    expect(market_context).toEqual({ btc_price: open.btcPrice, fear_greed: open.fearGreed, etf_flow_7d: open.etfFlows7d });
  });

  it('has the thresholds that determine the signal', async () => {
    const { signal, pUp, regime, thresholds, regimeDetail } = await get('premium', '/api/svc/oracle/premium');
    const { theta, buyFrom, sellUpTo, regimes } = thresholds;
    expect(theta).toBe(REGIMES[regime as keyof typeof REGIMES].theta);
    expect(regimes.map((entry: { regime: string }) => entry.regime)).toEqual([...REGIME_NAMES]);
    expect(regimes).toContainEqual({ regime, theta, riskLevel: regimeDetail.riskLevel, daysToEnter: expect.any(Number) });
    const margin = 0.00005;
    if (signal === 'BUY') expect(pUp).toBeGreaterThanOrEqual(buyFrom - margin);
    else if (signal === 'SELL') expect(pUp).toBeLessThanOrEqual(sellUpTo + margin);
    else expect(Math.abs(pUp - 0.5)).toBeLessThanOrEqual(theta + margin);
    expect(regimeDetail).toMatchObject({ regime, date: formatDay(NEWEST) });
  });

  it('has ascending quantiles around the signal price', async () => {
    const { quantiles, btcPrice } = await get('premium', '/api/svc/oracle/premium');
    expect(quantiles.map(({ level }: { level: number }) => level)).toEqual([0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95]);
    const prices = quantiles.map(({ price }: { price: number }) => price);
    expect(prices).toEqual(prices.toSorted((a: number, b: number) => a - b));
    expect(prices[0]).toBeLessThan(btcPrice);
    expect(prices[6]).toBeGreaterThan(btcPrice);
  });

  it('has the fit that yields P(up)', async () => {
    const { model, modelVersion, scorecard } = await get('premium', '/api/svc/oracle/premium?horizon=2d');
    const stored = await service.pipeline.forecaster.getModel(modelVersion);
    const fit = stored.horizons.find(({ horizonDays }) => horizonDays === 2)!;
    expect(model).toMatchObject({
      ...{ version: modelVersion, baseRate: fit.baseRate, climatology: fit.baseRate, trainingDays: fit.nTrain },
      coefficients: { intercept: fit.beta[0], trend: fit.beta[1], vol: fit.beta[5] },
      inputMeans: { trend: fit.meanX[0], vol: fit.meanX[4] },
      calibration: { intercept: fit.calA, slope: fit.calB },
      trainTo: formatDay(fit.trainTo),
    });
    expect(scorecard).toMatchObject({ horizon: '2d', summary: { totalPredictions: DAYS } });
  });

  it('has the public statistics of the record', async () => {
    const { scorecard } = await get('premium', '/api/svc/oracle/premium?horizon=3d');
    const { horizon, summary, statistics, byHorizon, byRegime, byModelVersion, marketSkill, moveSkill, moveVerdict } = await get(
      'public',
      '/api/svc/scorecard?horizon=3',
    );
    expect(scorecard).toEqual({ horizon, summary, statistics, byHorizon, byRegime, byModelVersion, marketSkill, moveSkill, moveVerdict });
    expect(statistics.calls.n).toBe(summary.resolved);
    expect(byHorizon.map(({ horizon: name }: { horizon: string }) => name)).toEqual(['1d', '2d', '3d', '7d']);
  });

  it('compares with the market on public days only, like the scorecard', async () => {
    const { predictionMarket } = await get('premium', '/api/svc/oracle/premium');
    expect(predictionMarket).toEqual((await get('public', '/api/svc/scorecard')).predictionMarket);
  });

  it('lists own strikes near the money, marked as own quotes', async () => {
    const spot = (await service.pipeline.record.findDay(NEWEST))!.price!.cents / 100;
    const at = new Date(toInstantMs(TODAY, 12));
    const quoted = (factor: number) => ({
      market: { id: `own ${factor}`, question: 'Above?', strikeUsd: spot * factor, expiresAt: new Date(toInstantMs(TODAY + 3)) },
      quote: { bid: 0.4, ask: 0.42, fee: 0.01, at },
    });
    const priced = { priceUsd: spot, observedAtMs: at.getTime(), source: 'a test', change24hPct: null };
    const market = { ...service.http.market, strikes: async () => [], spot: async () => priced };
    const changes = { market, venueMarkets: async () => [0.8, 0.9, 0.95, 1, 1.05, 1.1, 1.2].map(quoted) };
    const { strikes, missing } = await asPremium('/api/svc/oracle/premium', changes);
    expect(missing).toEqual([]);
    expect(strikes.map(({ marketId }: { marketId: string }) => marketId)).toEqual(
      [0.9, 0.95, 1, 1.05, 1.1].map((factor) => `own ${factor}`),
    );
    for (const strike of strikes) expect(strike).toMatchObject({ venue: 'paper', madeByService: true, yesPrice: 0.41, url: null });
  });

  it('lists prices, books and probabilities of prediction markets near the money', async () => {
    const day = (await service.pipeline.record.findDay(NEWEST))!;
    const spot = day.price!.cents / 100;
    const expiresAtMs = toInstantMs(TODAY + 4, 16);
    const snapshots = [0.7, 0.9, 0.95, 1, 1.05, 1.1, 1.3].map((factor) =>
      strikeSnapshot({ marketId: `m${factor}`, strikeUsd: Math.round(spot * factor), expiresAtMs, bids: [{ price: 0.41, size: 7 }] }),
    );
    const over = strikeSnapshot({ marketId: 'over', strikeUsd: Math.round(spot), expiresAtMs: toInstantMs(TODAY, 11) });
    const priceUsd = spot;
    const market = {
      ...service.http.market,
      strikes: async () => [...snapshots, over],
      spot: async () => ({ priceUsd, observedAtMs: toInstantMs(TODAY, 12), source: 'a test', change24hPct: null }),
    };
    const { strikes, missing } = await asPremium('/api/svc/oracle/premium', { market, venueMarkets: async () => [] });
    expect(missing).toEqual([]);
    expect(strikes.map(({ marketId }: { marketId: string }) => marketId)).toEqual(['m0.9', 'm0.95', 'm1', 'm1.05', 'm1.1']);
    const model = await service.pipeline.forecaster.getModel(day.modelVersion!);
    for (const { strike, modelProbability, difference, bid, ask, bids, atTheMoney } of strikes) {
      const expected = computeStrikeProbability({ day, model, strikeUsd: strike, expiresAt: new Date(expiresAtMs), at: day.signalAt });
      expect(modelProbability).toBeCloseTo(expected, 4);
      expect(difference).toBeCloseTo(modelProbability - 0.425, 4);
      expect({ bid, ask, bids }).toEqual({ bid: 0.41, ask: 0.44, bids: [{ price: 0.41, size: 7 }] });
      expect(atTheMoney).toBe(strike === Math.round(spot));
    }
  });

  it('names the strikes that differ from a market for holders too, the largest difference first, and to no one else', async () => {
    const spot = (await service.pipeline.record.findDay(NEWEST))!.price!.cents / 100;
    const receivedAtMs = toInstantMs(TODAY, 12) - 60_000;
    const quoted = (marketId: string, factor: number, changes: object = {}) =>
      strikeSnapshot({
        ...{ marketId, strikeUsd: Math.round(spot * factor), expiresAtMs: toInstantMs(TODAY + 4, 16), receivedAtMs },
        ...{ bid: 0.2, ask: 0.22, ...changes },
      });
    const snapshots = [
      ...[0.5, 0.6, 0.7, 0.8, 0.9, 1].map((factor) => quoted(`m${factor}`, factor)),
      quoted('alike', 3, { bid: 0, ask: 0.01 }),
      quoted('old', 0.4, { receivedAtMs: receivedAtMs - 3_600_000 }),
      quoted('later', 0.4, { expiresAtMs: toInstantMs(TODAY + 30, 16) }),
    ];
    const changes = { market: { ...service.http.market, strikes: async () => snapshots }, venueMarkets: async () => [] };
    const { differences } = await asPremium('/api/svc/oracle', changes);
    const { differences: ofPremium } = await asPremium('/api/svc/oracle/premium', changes);
    expect(ofPremium).toEqual(differences);
    expect(differences).toHaveLength(5);
    expect(differences.map(({ marketId }: { marketId: string }) => marketId)).not.toContain('old');
    const distances = differences.map(({ difference }: { difference: number }) => Math.abs(difference));
    expect(distances).toEqual(distances.toSorted((a: number, b: number) => b - a));
    expect(distances.at(-1)).toBeGreaterThanOrEqual(0.05);
    for (const { modelProbability, yesPrice, difference } of differences) expect(difference).toBeCloseTo(modelProbability - yesPrice, 4);
    for (const marketId of ['alike', 'later']) expect(differences.map((one: { marketId: string }) => one.marketId)).not.toContain(marketId);
    expect(await get('public', '/api/svc/open/signal')).not.toHaveProperty('differences');
  });

  it('omits unavailable parts with the reason', async () => {
    const down = () => Promise.reject(new OracleError('FEED_UNAVAILABLE', 'the provider does not answer'));
    const models = Object.assign(Object.create(service.http.models) as Services['models'], {
      get: () => Promise.reject(new OracleError('NOT_FOUND', 'There is no such model')),
    });
    const market = { ...service.http.market, strikes: down, spot: down, context: down };
    const body = await asPremium('/api/svc/oracle/premium', { market, venueMarkets: down, models });
    expect(body).toMatchObject({ model: null, strikes: [] });
    expect(body.missing).toEqual([
      { part: 'model', reason: 'There is no such model' },
      { part: 'strikes', reason: 'the provider does not answer' },
      { part: 'strikes of paper', reason: 'the provider does not answer' },
    ]);
  });

  it('fails on unexpected errors', async () => {
    const broken = () => Promise.reject(new TypeError('a bug'));
    await expect(asPremium('/api/svc/oracle/premium', { venueMarkets: broken })).rejects.toThrow('a bug');
  });
});

describe('the regime', () => {
  it('is that of the newest forecast, with its risk', async () => {
    const regime = await get('basic', '/api/svc/regime');
    const signal = await get('basic', '/api/svc/oracle');
    expect(regime).toMatchObject({ regime: signal.regime, timestamp: signal.timestamp, date: formatDay(NEWEST), replayed: true });
    expect(regime.riskLevel).toBe(REGIMES[regime.regime as keyof typeof REGIMES].riskLevel);
    for (const factor of Object.values(regime.factors)) expect(factor).toMatch(/\S/);
  });

  it.each([
    ['CRISIS', 'Extreme'],
    ['BEAR_TREND', 'High'],
    ['BEAR_RECOVERY', 'Elevated'],
    ['CHOP', 'Moderate'],
    ['BULL_TREND', 'Low'],
    ['EUPHORIA', 'Elevated'],
    ['DEFAULT', 'Moderate'],
  ] as const)('%s has the risk %s', (regime, riskLevel) => {
    expect(REGIMES[regime].riskLevel).toBe(riskLevel);
  });

  it('has a history of every day', async () => {
    const { days, count } = await get('basic', '/api/svc/regime/history');
    expect(count).toBe(DAYS);
    expect(days.map(({ date }: { date: string }) => date)).toEqual(Array.from({ length: DAYS }, (_, index) => formatDay(NEWEST - index)));
    expect(days.every(({ replayed, missed }: { replayed: boolean; missed: boolean }) => replayed && !missed)).toBe(true);
    expect((await get('basic', '/api/svc/regime/history?limit=3')).count).toBe(3);
  });
});
