import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { SKILLS } from '../../../skills/index.ts';
import { type Caller, PUBLIC_CALLER } from '../../../src/auth/caller.ts';
import type { Context } from '../../../src/context.ts';
import { formatDay } from '../../../src/forecast/day.ts';
import { formatHorizonName, HORIZONS } from '../../../src/forecast/model.ts';
import { REGIME_NAMES } from '../../../src/forecast/regime.ts';
import type { ForecastDoc } from '../../../src/record/forecast-doc.ts';
import { forgetful, knowing } from '../../support/record/forgetful.ts';
import {
  PLANTED_SIDES,
  type PlantedSide,
  paidSecrets,
  plant,
  type Secret,
  saltSecrets,
  secretsIn,
  untoldForecasts,
} from '../../support/record/planted-forecast.ts';
import type { TestService } from '../../support/service/service.ts';
import { BASIC, buildSkillDeps, createTestRunner } from '../../support/service/skills.ts';
import { TODAY, untoldService } from '../../support/service/unpublished-service.ts';

const STATUSES = ['PENDING', 'WIN', 'LOSS', 'HOLD', 'VOID'];
/** Each filter is tried at each horizon, and pairs of day and status at the one with most unresolved forecasts. */
const ALL_FILTERS_AT = '7d';

/** Public skills whose answers contain forecasts. */
const WITH_FORECASTS = ['verify_prediction', 'get_track_record'];

interface Call {
  id: string;
  input: Record<string, unknown>;
  label: string;
}

let service: TestService;
let untold: ForecastDoc[];
let calls: Call[];
let salts: Secret[];

beforeAll(async () => {
  service = await untoldService();
  untold = await untoldForecasts(service);
  calls = callsAround(untold);
  salts = await saltSecrets(service);
});
afterAll(async () => {
  vi.useRealTimers();
  await service?.stop();
});

/** All anonymous calls around unresolved forecasts. */
function callsAround(docs: readonly ForecastDoc[]): Call[] {
  const days = [...new Set(docs.map(({ day }) => day))];
  const verify = docs.flatMap(({ _id, day, horizonDays, attestation }) => [
    { predictionId: _id },
    { date: formatDay(day), horizon: formatHorizonName(horizonDays) },
    { uid: attestation!.uid },
  ]);
  const track = HORIZONS.map(formatHorizonName).flatMap((horizon) => [
    { horizon, pageSize: 100 },
    { horizon, page: 2, pageSize: 3 },
    ...STATUSES.map((status) => ({ horizon, status })),
    ...REGIME_NAMES.map((regime) => ({ horizon, regime })),
    ...days.map((day) => ({ horizon, from: formatDay(day), to: formatDay(day) })),
    ...(horizon === ALL_FILTERS_AT ? days : []).flatMap((day) =>
      STATUSES.map((status) => ({ horizon, status, from: formatDay(day), to: formatDay(day) })),
    ),
    { horizon, from: formatDay(TODAY - 3), regime: docs[0].regime!, status: 'HOLD' },
  ]);
  const named = (id: string, inputs: Record<string, unknown>[]) =>
    inputs.map((input) => ({ id, input, label: `${id} ${JSON.stringify(input)}` }));
  const others = SKILLS.filter(({ id, tier }) => tier === 'public' && !WITH_FORECASTS.includes(id));
  return [
    ...named('verify_prediction', verify),
    ...named('get_track_record', track),
    ...others.flatMap(({ id, examples }) =>
      named(
        id,
        examples.map(({ input }) => input),
      ),
    ),
  ];
}

async function answersTo(parts: Context, caller: Caller, asked = calls): Promise<Map<string, string>> {
  const run = createTestRunner(parts);
  const received = new Map<string, string>();
  for (const { id, input, label } of asked) received.set(label, JSON.stringify(await run(id, input, caller)));
  return received;
}

/** Answers in a world per planted content. */
type Worlds = Map<PlantedSide, Map<string, string>>;

async function worldsOf(parts: Context, asked = calls): Promise<Worlds> {
  const worlds: Worlds = new Map();
  for (const side of PLANTED_SIDES) {
    await plant(service, side);
    worlds.set(side, await answersTo(parts, PUBLIC_CALLER, asked));
  }
  return worlds;
}

/** Calls whose answers depend on unresolved values. */
function differences(worlds: Worlds): string[] {
  return calls.flatMap(({ label }) => (new Set([...worlds.values()].map((answers) => answers.get(label))).size > 1 ? [label] : []));
}

/** Secrets found in answers, one line each. */
function leaks(worlds: Worlds): string[] {
  return [...worlds].flatMap(([side, answers]) =>
    [...answers].flatMap(([label, text]) => secretsIn(text, [...paidSecrets(side), ...salts]).map((what) => `${label}: ${what}`)),
  );
}

const revealing = () => buildSkillDeps(service.http, { viewFor: (caller) => ({ ...service.http.viewFor(caller), policy: 'immediate' }) });

describe('an anonymous caller', () => {
  it('can query open, late, void, future, and decided but unrevealed forecasts', () => {
    expect(untold.length).toBeGreaterThan(12);
    expect(untold.some(({ resolution }) => resolution !== null)).toBe(true);
    expect(untold.some(({ state }) => state === 'VOID')).toBe(true);
    expect(calls.length).toBeGreaterThan(100);
  });

  it('gets identical bytes for every filter, whatever the unresolved forecasts say', async () => {
    const worlds = await worldsOf(forgetful(buildSkillDeps(service.http)));
    expect(leaks(worlds)).toEqual([]);
    expect(differences(worlds)).toEqual([]);
  });

  it('with a wallet below the tier gets nothing more', async () => {
    const parts = buildSkillDeps(service.http);
    expect(await answersTo(parts, { tier: 'public', wallet: `0x${'1'.repeat(40)}` })).toEqual(await answersTo(parts, PUBLIC_CALLER));
  });
});

describe('the leak tests fail', () => {
  const atOneHorizon = () => calls.filter(({ input }) => input.horizon === undefined || input.horizon === ALL_FILTERS_AT);

  it('for a service that reveals at once', async () => {
    const worlds = await worldsOf(revealing(), atOneHorizon());
    const [different, found] = [differences(worlds), leaks(worlds)];
    for (const id of WITH_FORECASTS) {
      expect(different.some((label) => label.startsWith(id))).toBe(true);
      expect(found.some((label) => label.startsWith(id))).toBe(true);
    }
  });

  it('for a status that depends on the forecast', async () => {
    const careless = buildSkillDeps(service.http, { record: withUntoldHolds() });
    const different = differences(await worldsOf(careless, atOneHorizon()));
    expect(different.some((label) => label.includes('"status":"HOLD"'))).toBe(true);
    expect(different.some((label) => label.includes('"status":"PENDING"'))).toBe(true);
  });
});

/** A record in which a forecast has the status HOLD as soon as it is one. */
function withUntoldHolds(): Context['record'] {
  const { record } = service.http;
  const listByHorizon = (horizonDays: number) =>
    record.known
      .listByHorizon(horizonDays)
      .map((doc) => (doc.values?.signal === 'HOLD' && doc.state === 'PENDING' ? { ...doc, state: 'HOLD' as const } : doc));
  return knowing(record, { listByHorizon });
}

describe('Basic', () => {
  it('gets values that do not open the commitment when the record was changed', async () => {
    await plant(service, 'up');
    const run = createTestRunner(buildSkillDeps(service.http));
    const { output } = await run('verify_prediction', { predictionId: untold[0]._id }, BASIC);
    expect(output.verified).toBe(false);
    expect(output.prediction.signal).toBe('BUY');
  });
});
