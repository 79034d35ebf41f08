import { formatDay } from '../../../src/forecast/day.ts';
import { SIZING_FORMULA } from '../../../src/forecast/move.ts';
import type { ForecastDoc } from '../../../src/record/forecast-doc.ts';
import type { TestService } from '../service/service.ts';

export type Tier = 'public' | 'basic' | 'premium';

/** Who asks for what, and what comes of it: an output that has these members, or an error of this code and field. */
export interface Scenario {
  name: string;
  skill: string;
  input: Record<string, unknown>;
  tiers: readonly Tier[];
  /** What a way answers in place of `expected`. */
  over?: Readonly<Record<string, { code: string; field: string | null }>>;
  /** Ways that cannot even be asked for it. */
  notOver?: readonly string[];
  expected: { output: Record<string, unknown> } | { code: string; field: string | null };
}

const ALL: readonly Tier[] = ['public', 'basic', 'premium'];
const HOLDERS: readonly Tier[] = ['basic', 'premium'];
const MCP = ['MCP HTTP', 'MCP stdio'] as const;
const NOWHERE = `0x${'1'.repeat(64)}`;

const refused = (code: string, field: string | null = null) => ({ expected: { code, field } });
const answers = (output: Record<string, unknown>) => ({ expected: { output } });

/** Skill by input by tier by failure, on a service with a record. */
export async function buildScenarios({ pipeline: { record } }: TestService): Promise<Scenario[]> {
  const published = (await record.forecasts.findOne({ reveal: { $ne: null }, horizonDays: 2 })) as ForecastDoc;
  const open = record.known.findLatest(7) as ForecastDoc;
  return [...predict(), ...verify(published, open), ...trackRecord(published), ...marketContext(), ...unknownSkill()];
}

function predict(): Scenario[] {
  const skill = 'predict_btc_direction';
  return [
    { name: 'the forecast of the default horizon', skill, input: {}, tiers: HOLDERS, ...answers({ horizon: '7d' }) },
    { name: 'the forecast of 2 days', skill, input: { horizon: '2d' }, tiers: HOLDERS, ...answers({ horizon: '2d' }) },
    {
      name: 'no forecast for anybody',
      skill,
      input: {},
      tiers: ['public'],
      // The request is the sale: its terms stand in the 402.
      over: { REST: { code: 'PAYMENT_REQUIRED', field: null } },
      notOver: MCP,
      ...refused('UNAUTHENTICATED', 'Authorization'),
    },
    {
      name: 'not for anybody, whatever is wrong with it',
      skill,
      input: { horizon: '9d' },
      tiers: ['public'],
      over: Object.fromEntries(
        ['REST', 'A2A JSON-RPC', 'A2A HTTP+JSON', ...MCP].map((name) => [name, { code: 'INPUT_INVALID', field: 'horizon' }]),
      ),
      ...refused('UNAUTHENTICATED', 'Authorization'),
    },
    {
      name: 'the public part for anybody',
      skill,
      input: {},
      tiers: ['public'],
      // The others reject the call.
      notOver: ['REST', 'REST tasks', 'A2A JSON-RPC', 'A2A HTTP+JSON'],
      ...answers({ signal: 'GATED', direction: null, pUp: null, horizon: '7d', status: 'PENDING' }),
    },
    { name: 'a horizon that is not forecast', skill, input: { horizon: '9d' }, tiers: HOLDERS, ...refused('INPUT_INVALID', 'horizon') },
    { name: 'a horizon as a number', skill, input: { horizon: 2 }, tiers: HOLDERS, ...answers({ horizon: '2d' }) },
    { name: 'a horizon without its letter', skill, input: { horizon: '3' }, tiers: HOLDERS, ...answers({ horizon: '3d' }) },
    { name: 'the forecast of 1 day', skill, input: { horizon: '1d' }, tiers: HOLDERS, ...answers({ horizon: '1d' }) },
    { name: 'a horizon of another type', skill, input: { horizon: [7] }, tiers: HOLDERS, ...refused('INPUT_INVALID', 'horizon') },
    {
      name: 'a position for a risk',
      skill,
      input: { horizon: '1d', riskPercent: 1, accountUsd: 10_000 },
      tiers: HOLDERS,
      ...answers({ horizon: '1d', sizing: { riskPercent: 1, accountUsd: 10_000, riskUsd: 100, formula: SIZING_FORMULA } }),
    },
    {
      name: 'a position for a risk, for anybody',
      skill,
      input: { detail: 'public', riskPercent: 0.5, accountUsd: 400.5 },
      tiers: ALL,
      // Tasks need a token.
      ...answers({ sizing: { riskPercent: 0.5, accountUsd: 400.5, riskUsd: 2 } }),
    },
    ...[
      [{ riskPercent: 1 }, 'accountUsd'],
      [{ accountUsd: 10_000 }, 'riskPercent'],
      [{ riskPercent: 0, accountUsd: 10_000 }, 'riskPercent'],
      [{ riskPercent: 100.1, accountUsd: 10_000 }, 'riskPercent'],
      [{ riskPercent: 1, accountUsd: -1 }, 'accountUsd'],
      [{ riskPercent: '1%', accountUsd: 1 }, 'riskPercent'],
    ].map(([input, field]) => ({
      name: `no position for ${JSON.stringify(input)}`,
      skill,
      input: { detail: 'public', ...(input as object) },
      tiers: ALL,
      ...refused('INPUT_INVALID', field as string),
    })),
    {
      name: 'a field that is not known',
      skill,
      input: { horizon: '7d', when: 'now' },
      tiers: HOLDERS,
      ...refused('INPUT_INVALID', 'when'),
    },
  ];
}

function verify(published: ForecastDoc, open: ForecastDoc): Scenario[] {
  const skill = 'verify_prediction';
  const byDate = { date: formatDay(published.day), horizon: '2d' };
  return [
    { name: 'a told forecast by date', skill, input: byDate, tiers: ALL, ...answers({ verified: true }) },
    { name: 'a told forecast by id', skill, input: { predictionId: published._id }, tiers: ALL, ...answers({ verified: true }) },
    { name: 'a told forecast by uid', skill, input: { uid: published.attestation!.uid }, tiers: ALL, ...answers({ verified: true }) },
    { name: 'its resolution by uid', skill, input: { uid: published.reveal!.uid }, tiers: ALL, ...answers({ verified: true }) },
    { name: 'an open forecast', skill, input: { predictionId: open._id }, tiers: ALL, ...answers({ verified: true }) },
    { name: 'a day before the record', skill, input: { date: '2001-01-01' }, tiers: ALL, ...refused('NOT_FOUND', 'date') },
    { name: 'a uid that is not on chain', skill, input: { uid: NOWHERE }, tiers: ALL, ...refused('NOT_FOUND', 'uid') },
    { name: 'a uid of the wrong form', skill, input: { uid: '0x12' }, tiers: ALL, ...refused('INPUT_INVALID', 'uid') },
    { name: 'a date that is none', skill, input: { date: '2026-02-30' }, tiers: ALL, ...refused('INPUT_INVALID', 'date') },
  ];
}

function trackRecord(published: ForecastDoc): Scenario[] {
  const skill = 'get_track_record';
  const day = formatDay(published.day);
  return [
    { name: 'the record', skill, input: {}, tiers: ALL, ...answers({ filters: { horizon: '7d' } }) },
    {
      name: 'the record of a day',
      skill,
      input: { horizon: '2d', from: day, to: day },
      tiers: ALL,
      ...answers({ filters: { horizon: '2d', from: day, to: day, regime: null, status: null }, total: 1 }),
    },
    { name: 'a page beyond the last', skill, input: { page: 1_000 }, tiers: ALL, ...answers({ page: 1_000 }) },
    {
      name: 'a range that ends before it begins',
      skill,
      input: { from: '2026-02-01', to: '2026-01-01' },
      tiers: ALL,
      ...refused('INPUT_INVALID', 'from'),
    },
    { name: 'a page of nothing', skill, input: { pageSize: 0 }, tiers: ALL, ...refused('INPUT_INVALID', 'pageSize') },
    { name: 'a regime that there is not', skill, input: { regime: 'PANIC' }, tiers: ALL, ...refused('INPUT_INVALID', 'regime') },
  ];
}

function marketContext(): Scenario[] {
  const skill = 'get_market_context';
  return [
    { name: 'the market', skill, input: {}, tiers: ALL, ...answers({}) },
    { name: 'the price alone', skill, input: { include: ['price'] }, tiers: ALL, ...answers({}) },
    { name: 'a section that there is not', skill, input: { include: ['gossip'] }, tiers: ALL, ...refused('INPUT_INVALID', 'include.0') },
  ];
}

function unknownSkill(): Scenario[] {
  return [
    {
      name: 'a skill that there is not',
      skill: 'read_tea_leaves',
      input: {},
      tiers: ALL,
      // Over MCP the SDK answers, without our code.
      notOver: ['REST', 'MCP HTTP', 'MCP stdio'],
      ...refused('INPUT_INVALID', 'skill'),
    },
  ];
}
