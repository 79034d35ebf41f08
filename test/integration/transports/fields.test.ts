import { JsonRpcTransport } from 'a2a-sdk-0.3/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { computePositionSize } from '../../../src/forecast/move.ts';
import { openA2aJsonRpc, openA2aRest } from '../../support/agent-clients/a2a.ts';
import { fetchAs, type OpenAgentClient } from '../../support/agent-clients/client.ts';
import { openMcpHttp } from '../../support/agent-clients/mcp.ts';
import { PAYING_CLIENTS } from '../../support/agent-clients/paying.ts';
import { openRest, openTasks } from '../../support/agent-clients/rest.ts';
import { loginToken } from '../../support/auth/login.ts';
import { demoBuyer } from '../../support/commerce/buyer.ts';
import { payingFetch } from '../../support/commerce/payments.ts';
import { signPayment } from '../../support/commerce/x402.ts';
import { type Served, serve } from '../../support/http/serve.ts';
import { cli } from '../../support/service/cli.ts';
import { type TestService, unresolvedService } from '../../support/service/service.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers are what is tested
type Answer = Record<string, any>;
type Tier = 'public' | 'basic' | 'premium' | 'payer';

const HORIZON = '2d';
const PREDICT = 'predict_btc_direction';
/** What moves with the time of day, and what is said of the caller. */
const MOVING = ['ageSeconds', 'nextSignalAt', 'asOf', 'access', 'ways', 'payment', 'receipt', 'success'];
/** What a tier has to get at least. */
const DETAILS = { public: 'public', basic: 'basic', premium: 'premium', payer: 'basic' } as const;
const FEWEST = { public: 20, basic: 30, premium: 40, payer: 30 };

let service: TestService;
let served: Served;
const tokens: Partial<Record<Tier, string>> = {};

beforeAll(async () => {
  service = await unresolvedService(3);
  service.progress.complete();
  served = await serve(service);
  for (const tier of ['basic', 'premium'] as const) tokens[tier] = await loginToken(service, tier);
});
afterAll(async () => {
  await served?.close();
  await service?.stop();
});

const get = async (path: string, tier: Tier): Promise<Answer> => {
  const response = await fetchAs(tokens[tier])(`${served.url}${path}`);
  expect(response.status, path).toBe(200);
  return (await response.json()) as Answer;
};

async function ask(open: OpenAgentClient, skill: string, input: Answer, tier: Tier): Promise<Answer> {
  const client = await open({ url: served.url, ...(tokens[tier] && { token: tokens[tier] }) });
  const outcome = await client.run(skill, input);
  await client.close();
  if (!outcome.ok) throw new Error(`${outcome.code} ${outcome.field}`);
  return outcome.output;
}

const RISK = { riskPercent: 1.25, accountUsd: 12_345 };
const predict = (open: OpenAgentClient) => (tier: Tier) => ask(open, PREDICT, { horizon: HORIZON, detail: DETAILS[tier], ...RISK }, tier);

/** The binding of 0.3, by its own client. */
const openA2aOlder: OpenAgentClient = async ({ url, token }) => ({
  async run(skill, input) {
    const transport = new JsonRpcTransport({ endpoint: `${url}/a2a`, fetchImpl: fetchAs(token) });
    const parts = [{ kind: 'data' as const, data: { skill, input } }];
    const message = { kind: 'message' as const, messageId: crypto.randomUUID(), role: 'user' as const, parts };
    const { artifacts } = (await transport.sendMessage({ message })) as Answer;
    return { ok: true, output: artifacts[0].parts.find(({ kind }: Answer) => kind === 'data').data, text: '' };
  },
  close: async () => undefined,
});

const RESOURCES = { public: '/api/svc/open/signal', basic: '/api/svc/oracle', premium: '/api/svc/oracle/premium' };

async function buy(name: keyof typeof PAYING_CLIENTS): Promise<Answer> {
  const client = await PAYING_CLIENTS[name]!(served.url);
  const { accepts } = await client.terms();
  const payment = await signPayment({ account: demoBuyer(service).account, requirements: accepts[0] });
  const { output, error } = await client.pay(payment, { input: { horizon: HORIZON } });
  expect(error).toBeNull();
  await client.close();
  return output!;
}

const svc = async (command: string, words: string[], tier: Tier): Promise<Answer> => {
  const environment = tokens[tier] === undefined ? {} : { ORACLE_TOKEN: tokens[tier] };
  const { code, out, err } = await cli([command, ...words, '--json', '--url', served.url], { environment });
  expect(code, err).toBe(0);
  return JSON.parse(out) as Answer;
};

/** Ways to a forecast, by the tiers that they serve. */
const WAYS: Record<string, { tiers: readonly Tier[]; ask(tier: Tier): Promise<Answer> }> = {
  'the resource': {
    tiers: ['public', 'basic', 'premium'],
    ask: (tier) => get(`${RESOURCES[tier as keyof typeof RESOURCES]}?horizon=${HORIZON}`, tier),
  },
  'the operation of the skill': { tiers: ['public', 'basic', 'premium'], ask: predict(openRest) },
  'a task': { tiers: ['basic', 'premium'], ask: predict(openTasks) },
  'A2A 1.0, JSON-RPC': { tiers: ['public', 'basic', 'premium'], ask: predict(openA2aJsonRpc) },
  'A2A 1.0, HTTP+JSON': { tiers: ['public', 'basic', 'premium'], ask: predict(openA2aRest) },
  'A2A 0.3': { tiers: ['public', 'basic', 'premium'], ask: predict(openA2aOlder) },
  MCP: { tiers: ['public', 'basic', 'premium'], ask: predict(openMcpHttp) },
  'the command line': { tiers: ['public', 'basic'], ask: (tier) => svc('signal', ['--horizon', HORIZON], tier) },
  'a paid resource': {
    tiers: ['payer'],
    async ask() {
      const response = await payingFetch(demoBuyer(service).account)(`${served.url}/oracle?horizon=${HORIZON}`);
      expect(response.status).toBe(200);
      return (await response.json()) as Answer;
    },
  },
  'a paid operation': { tiers: ['payer'], ask: () => buy('REST') },
  'a paid tool of MCP': { tiers: ['payer'], ask: () => buy('MCP') },
  'a paid task of A2A': { tiers: ['payer'], ask: () => buy('A2A JSON-RPC') },
};

const lasting = (value: unknown) => JSON.parse(JSON.stringify(value, (name, member) => (MOVING.includes(name) ? undefined : member)));

/** Compares each member that both have. @returns their number */
function compareMembers(got: Answer, expected: Answer): number {
  const names = Object.keys(got).filter((name) => name in expected && !MOVING.includes(name));
  for (const name of names) expect(lasting(got[name]), name).toEqual(lasting(expected[name]));
  return names.length;
}

describe('the newest forecast', () => {
  it.each(Object.entries(WAYS).flatMap(([name, way]) => way.tiers.map((tier) => [name, tier, way] as const)))(
    'over %s has the values of the skill for %s, field by field',
    async (_, tier, way) => {
      const as = tier === 'payer' ? 'basic' : tier;
      const expected = await predict(openRest)(as);
      const got = await way.ask(tier);
      expect(compareMembers(got, expected)).toBeGreaterThanOrEqual(FEWEST[tier]);
      // The resources take no risk.
      if ('sizing' in got) expect(got.sizing).toEqual(computePositionSize(RISK, { ...got.moveLimits, btcPrice: got.btcPrice }));
      if (tier === 'public') expect(got).toMatchObject({ signal: 'GATED', direction: null, confidence: null });
      else expect(['BUY', 'SELL', 'HOLD']).toContain(got.signal);
    },
  );
});

describe('the size of a position', () => {
  it('is the same over every transport and for every tier, in the words of a text too', async () => {
    const tiers = ['public', 'basic', 'premium'] as const;
    const asked = [openRest, openTasks, openA2aJsonRpc, openA2aRest, openA2aOlder, openMcpHttp].flatMap((open) =>
      tiers.filter((tier) => open !== openTasks || tier !== 'public').map((tier) => predict(open)(tier)),
    );
    const [first, ...others] = (await Promise.all(asked)).map(({ sizing }) => sizing);
    expect(first).toMatchObject({ ...RISK, exceedsAccount: false });
    for (const other of others) expect(other).toEqual(first);
  });
});

describe('the record', () => {
  it.each(['public', 'basic', 'premium'] as const)('has the same rows and statistics as the scorecard for %s', async (tier) => {
    const record = await ask(openRest, 'get_track_record', { horizon: HORIZON, pageSize: 100 }, tier);
    const card = await get(`/api/svc/scorecard?horizon=${HORIZON}&limit=100`, tier);
    expect(card.predictions).toEqual(record.entries);
    // The interface has a number where no forecast is scored yet.
    const { accuracy, dedupedAccuracy, streak, ...statistics } = record.statistics;
    expect(compareMembers(card.summary, statistics)).toBeGreaterThan(8);
    expect(card.summary).toMatchObject({ accuracy: accuracy ?? 0, dedupedAccuracy: dedupedAccuracy ?? 0, streak: { count: streak.count } });
    expect([card.byHorizon, card.byRegime, card.marketSkill]).toEqual([record.byHorizon, record.byRegime, record.marketSkill]);
    const printed = await svc('scorecard', ['--horizon', HORIZON], tier);
    expect(compareMembers(printed.summary, card.summary)).toBeGreaterThan(8);
  });
});

describe('the market', () => {
  it('has the same values in its own resources', async () => {
    const { price, sentiment, flows, macro, regime } = await ask(openRest, 'get_market_context', {}, 'basic');
    const [btc, mood, etf, correlated, now] = await Promise.all([
      ...['/api/btc-price', '/api/fear-greed', '/api/etf-flows', '/api/macro-correlation'].map((path) => get(path, 'public')),
      get('/api/svc/regime', 'basic'),
    ]);
    expect([btc!.price, mood!.value, etf!.flow7d, etf!.lastDay]).toEqual([
      ...[price.btcPrice, sentiment.fearGreed, flows.etfFlows7d, flows.lastDay],
    ]);
    expect(correlated).toMatchObject({ dxy: { value: macro.dxy.value }, sp500: { correlation: macro.sp500.correlation } });
    expect([now!.regime, now!.riskLevel, now!.date]).toEqual([regime.name, regime.riskLevel, regime.date]);
  });
});
