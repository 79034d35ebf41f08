import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { toInlineJsonSchema } from '../../../../../src/platform/validation.ts';
import { demoWallets, loginToken, signedLogin } from '../../../../support/auth/login.ts';
import { type Served, serve } from '../../../../support/http/serve.ts';
import { brokenRules } from '../../../../support/interface-client/check.ts';
import * as rules from '../../../../support/interface-client/fields.ts';
import { abstainOn, lengthenRecord, unopenNewest } from '../../../../support/interface-client/record-states.ts';
import { namedFields, sectionOf } from '../../../../support/interface-client/text.ts';
import { describeWithShared, sharedPath } from '../../../../support/record/shared.ts';
import { runPastDay, type TestService, testService, today } from '../../../../support/service/service.ts';

/** Days that run on the chain: a 7-day forecast is resolved, and some are open. */
const DAYS = 10;
const YEAR_DAYS = 365;
const HELD_HORIZON_DAYS = 3;

type Tier = 'public' | 'basic' | 'premium';

interface Resource {
  section: string;
  path: string;
  tier: Tier;
  fields: rules.Fields;
}

const resource = (section: string, path: string, tier: Tier, fields: rules.Fields): Resource => ({ section, path, tier, fields });

/** What depends on no forecast. */
const ALWAYS: Resource[] = [
  resource('2.3', '/api/svc/scorecard', 'public', rules.PUBLIC_SCORECARD),
  resource('2.3', '/api/svc/scorecard', 'basic', rules.SCORECARD),
  resource('2.5', '/api/svc/onchain-oracle/history', 'public', rules.PUBLIC_HISTORY),
  resource('2.5', '/api/svc/onchain-oracle/history', 'basic', rules.HISTORY),
  resource('2.5', '/api/svc/onchain-oracle/stats', 'public', rules.ATTESTATION_STATS),
  resource('2.6', '/api/btc-price', 'public', rules.BTC_PRICE),
  resource('2.6', '/api/fear-greed', 'public', rules.FEAR_AND_GREED),
  resource('2.6', '/api/etf-flows', 'public', rules.ETF_FLOWS),
  resource('2.6', '/api/macro-correlation', 'public', rules.MACRO_CORRELATION),
  resource('2.7', '/api/svc/agent/identity', 'public', rules.IDENTITY),
  resource('2.7', '/api/svc/agent/reputation', 'public', rules.REPUTATION),
  resource('2.8', '/api/svc/commerce/offerings', 'public', rules.OFFERINGS),
];

/** Operations on the newest forecast. */
const OF_A_FORECAST: Resource[] = [
  resource('2.1', '/api/svc/open/signal', 'public', rules.PUBLIC_SIGNAL),
  resource('2.1', '/api/svc/open/signal', 'basic', rules.OPEN_SIGNAL),
  resource('2.2', '/api/svc/oracle', 'basic', rules.ORACLE),
  resource('2.2', '/api/svc/oracle/premium', 'premium', rules.PREMIUM),
  resource('4.1', '/api/svc/widget', 'public', rules.WIDGET),
  resource('4.1', '/api/svc/widget', 'basic', rules.WIDGET),
  resource('2.4', '/api/svc/regime', 'basic', rules.REGIME_NOW),
  resource('2.5', '/api/svc/onchain-oracle/latest', 'basic', rules.LATEST),
];

const TAKES_HORIZON = /open\/signal|oracle$|premium$|scorecard|onchain-oracle/;
const titled = (resources: Resource[]) => resources.map((one): [string, Resource] => [`${one.path} for ${one.tier} callers`, one]);

/** A service that is asked as its callers ask, with a token of each tier. */
interface Asked {
  service: TestService;
  served: Served;
  get(path: string, tier: Tier): Promise<{ status: number; body: unknown }>;
}

async function openAsked(service: TestService): Promise<Asked> {
  service.progress.complete();
  const served = await serve(service);
  const [basic, premium] = await Promise.all([loginToken(service, 'basic'), loginToken(service, 'premium')]);
  const tokens: Record<Tier, string | undefined> = { public: undefined, basic, premium };
  const get: Asked['get'] = async (path, tier) => {
    const token = tokens[tier];
    const response = await fetch(`${served.url}${path}`, { headers: token === undefined ? {} : { Authorization: `Bearer ${token}` } });
    return { status: response.status, body: await response.json() };
  };
  return { service, served, get };
}

async function close(asked: Asked | undefined): Promise<void> {
  await asked?.served.close();
  await asked?.service.stop();
}

async function expectKept(asked: Asked, { path, tier, fields }: Resource, query = ''): Promise<void> {
  const { status, body } = await asked.get(path + query, tier);
  expect(status, JSON.stringify(body)).toBe(200);
  expect(brokenRules(fields, body)).toEqual([]);
}

describe('before the first forecast', () => {
  let asked: Asked;
  beforeAll(async () => {
    asked = await openAsked(await testService(0));
  });
  afterAll(() => close(asked));

  it.each(titled(ALWAYS))('%s has the types of the interface', (_, one) => expectKept(asked, one));

  it.each(titled(OF_A_FORECAST))('%s returns 503 or an empty list', async (_, { path, tier }) => {
    const { status, body } = await asked.get(path, tier);
    expect([status, body]).toEqual(
      path.endsWith('latest')
        ? [404, expect.objectContaining({ code: 'NOT_FOUND' })]
        : [503, expect.objectContaining({ code: 'STEP_WAITING', retryable: true })],
    );
  });
});

describe('after a year', () => {
  let asked: Asked;
  beforeAll(async () => {
    const service = await testService(DAYS);
    for (let day = today() - DAYS; day < today(); day++) await runPastDay(service, day);
    await service.infrastructure.localChain!.followWallClock();
    await lengthenRecord(service, YEAR_DAYS);
    await abstainOn(service, HELD_HORIZON_DAYS);
    await unopenNewest(service);
    asked = await openAsked(service);
  });
  afterAll(() => close(asked));

  it.each(titled([...ALWAYS, ...OF_A_FORECAST]))('%s has the types of the interface', (_, one) => expectKept(asked, one));

  it.each(titled([...ALWAYS, ...OF_A_FORECAST].filter(({ path }) => TAKES_HORIZON.test(path.split('?')[0]))))(
    '%s has them where every forecast of the horizon is HOLD',
    (_, one) => expectKept(asked, one, `${one.path.includes('?') ? '&' : '?'}horizon=${HELD_HORIZON_DAYS}`),
  );

  it('an attestation verifies with both shapes of the interface', async () => {
    const { body } = await asked.get('/api/svc/onchain-oracle/latest', 'basic');
    const { uid } = (body as { data: { uid: string } }).data;
    await expectKept(asked, resource('2.5', `/api/svc/onchain-oracle/verify/${uid}`, 'basic', rules.VERIFIED));
  });

  it('defaults are those of the interface: 7 days, 30 attestations', async () => {
    expect((await asked.get('/api/svc/open/signal', 'public')).body).toMatchObject({ horizon: '7d' });
    expect((await asked.get('/api/svc/oracle', 'basic')).body).toMatchObject({ horizon: '7d' });
    expect((await asked.get('/api/svc/scorecard', 'public')).body).toMatchObject({
      horizon: '7d',
      summary: { totalPredictions: YEAR_DAYS },
    });
    const { predictions } = (await asked.get('/api/svc/scorecard', 'public')).body as { predictions: unknown[] };
    expect(predictions).toHaveLength(YEAR_DAYS);
    expect((await asked.get('/api/svc/onchain-oracle/history', 'public')).body).toMatchObject({ count: 30 });
  });

  it('a login and a task have the fields of the interface', async () => {
    const { served, service } = asked;
    const post = async (path: string, body: object) => {
      const response = await fetch(`${served.url}${path}`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${await loginToken(service, 'basic')}` },
        body: JSON.stringify(body),
      });
      return response.json();
    };
    const login = await signedLogin(demoWallets(service).premium, Date.now());
    expect(brokenRules(rules.SESSION, await post('/api/svc/oracle/verify', login))).toEqual([]);
    const task = { skill: 'predict_btc_direction', input: { horizon: '7d' }, metadata: {} };
    expect(brokenRules(rules.TASK, await post('/api/svc/a2a/tasks/send', task))).toEqual([]);
  });

  it('a risk level is that of its regime', async () => {
    const { body } = await asked.get('/api/svc/regime', 'basic');
    const { regime, riskLevel } = body as { regime: keyof typeof rules.RISK_LEVELS; riskLevel: string };
    expect(riskLevel).toBe(rules.RISK_LEVELS[regime]);
  });
});

/** Code spans of section 2 that name values, and no fields. */
const VALUES = new Set([
  ...[
    'GATED',
    'BUY',
    'SELL',
    'HOLD',
    'UP',
    'DOWN',
    'WIN',
    'LOSS',
    'PENDING',
    'prediction',
    'resolution',
    'basic',
    'premium',
    'completed',
    'failed',
  ],
  ...['svc_signal_with_proof', 'svc_verified_track_record', 'svc_analysis_report', 'svc_crowd_vs_oracle', 'svc_daily_macro_review'],
  ...['svc_alpha_brief', 'svc_bitcoin_signal', 'svc_market_context'],
]);

describeWithShared('section 2 of the interface', () => {
  const SECTIONS: Record<string, rules.Fields[]> = {
    '2.1': [rules.PUBLIC_SIGNAL, rules.OPEN_SIGNAL],
    '2.2': [rules.PREMIUM],
    '2.3': [rules.SCORECARD],
    '2.4': [rules.REGIME_NOW],
    '2.5': [rules.HISTORY, rules.VERIFIED, rules.ATTESTATION_STATS],
    '2.6': [rules.BTC_PRICE, rules.FEAR_AND_GREED, rules.ETF_FLOWS, rules.MACRO_CORRELATION],
    '2.7': [rules.IDENTITY, rules.REPUTATION],
    '2.8': [rules.OFFERINGS],
    '2.9': [rules.TASK],
    '2.10': [rules.SESSION],
  };

  it.each(Object.entries(SECTIONS))('%s has a rule for every field, with the specified type', async (number, all) => {
    const text = await readFile(sharedPath('spec', 'interface-spec.md'), 'utf8');
    const named = namedFields(sectionOf(text, number), VALUES);
    expect(named.length).toBeGreaterThan(3);
    const known = all.flatMap((fields) => Object.entries(fields).map(([path, rule]) => ({ name: lastName(path), types: typesOf(rule) })));
    for (const { name, type } of named) {
      const own = known.filter((rule) => rule.name === name);
      expect(own, `${number}: no rule for ${name}`).not.toEqual([]);
      if (type !== null)
        expect(
          own.flatMap(({ types }) => types),
          `${number}: ${name}`,
        ).toContain(type);
    }
  });
});

const lastName = (path: string) =>
  path
    .replaceAll(/\[\]|\?/g, '')
    .split('.')
    .at(-1)!;

interface TypedSchema {
  type?: string | string[];
  anyOf?: TypedSchema[];
  const?: unknown;
}

/** JSON types that a rule accepts. */
function typesOf(rule: z.ZodType): string[] {
  const { anyOf = [], ...own } = toInlineJsonSchema(rule) as TypedSchema;
  const types = [own, ...anyOf].flatMap(({ type = [] }) => type);
  const isWhole = types.includes('integer') || Number.isInteger(own.const);
  return isWhole ? [...types, 'integer', 'number'] : types;
}
