import { encodeAbiParameters, keccak256, parseAbiParameters } from 'viem';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { SkillParts } from '../../../skills/parts.ts';
import { formatDay } from '../../../src/forecast/day.ts';
import { HORIZONS, horizonName } from '../../../src/forecast/model.ts';
import { REGIME_NAMES } from '../../../src/forecast/regime.ts';
import { type Caller, PUBLIC_CALLER } from '../../../src/record/caller.ts';
import type { ForecastDoc } from '../../../src/record/forecast.ts';
import {
  PLANTED_SIDES,
  type PlantedSide,
  paidSecrets,
  plant,
  type Secret,
  saltSecrets,
  secretsIn,
  untoldForecasts,
} from '../../support/planted.ts';
import type { TestService } from '../../support/service.ts';
import { BASIC, skillParts, skillRunner } from '../../support/skills.ts';
import { TODAY, untoldService } from '../../support/untold-service.ts';

const STATUSES = ['PENDING', 'WIN', 'LOSS', 'HOLD', 'VOID'];

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

/** Everything that everybody may ask around forecasts that are not told. */
function callsAround(docs: readonly ForecastDoc[]): Call[] {
  const days = [...new Set(docs.map(({ day }) => day))];
  const verify = docs.flatMap(({ _id, day, horizonDays, attestation }) => [
    { predictionId: _id },
    { date: formatDay(day), horizon: horizonName(horizonDays) },
    { uid: attestation!.uid },
  ]);
  const track = HORIZONS.map(horizonName).flatMap((horizon) => [
    { horizon, pageSize: 100 },
    { horizon, page: 2, pageSize: 3 },
    ...STATUSES.map((status) => ({ horizon, status })),
    ...REGIME_NAMES.map((regime) => ({ horizon, regime })),
    ...days.map((day) => ({ horizon, from: formatDay(day), to: formatDay(day) })),
    ...days.flatMap((day) => STATUSES.map((status) => ({ horizon, status, from: formatDay(day), to: formatDay(day) }))),
    { horizon, from: formatDay(TODAY - 3), regime: docs[0].regime!, status: 'HOLD' },
  ]);
  const named = (id: string, inputs: Record<string, unknown>[]) =>
    inputs.map((input) => ({ id, input, label: `${id} ${JSON.stringify(input)}` }));
  return [...named('verify_prediction', verify), ...named('get_track_record', track), ...named('get_market_context', [{}])];
}

/** The bytes of each answer. */
async function answersTo(parts: SkillParts, caller: Caller): Promise<Map<string, string>> {
  const run = skillRunner(parts);
  const told = new Map<string, string>();
  for (const { id, input, label } of calls) told.set(label, JSON.stringify(await run(id, input, caller)));
  return told;
}

/** Calls whose answers follow what is not told, by the planted contents. */
async function differences(parts: SkillParts, caller: Caller): Promise<string[]> {
  const found = new Map(calls.map(({ label }) => [label, new Set<string>()]));
  for (const side of PLANTED_SIDES) {
    await plant(service, side);
    for (const [label, text] of await answersTo(parts, caller)) found.get(label)!.add(text);
  }
  return [...found].flatMap(([label, texts]) => (texts.size > 1 ? [label] : []));
}

async function leaks(parts: SkillParts, side: PlantedSide, caller: Caller): Promise<string[]> {
  await plant(service, side);
  const secrets = [...paidSecrets(side), ...salts];
  return [...(await answersTo(parts, caller))].flatMap(([label, text]) => secretsIn(text, secrets).map((what) => `${label}: ${what}`));
}

const revealing = () => skillParts(service.http, { viewFor: (caller) => ({ ...service.http.viewFor(caller), policy: 'immediate' }) });

describe('anybody', () => {
  it('may ask around forecasts that are open, late, void, not begun, and decided but not revealed', () => {
    expect(untold.length).toBeGreaterThan(12);
    expect(untold.some(({ resolution }) => resolution !== null)).toBe(true);
    expect(untold.some(({ state }) => state === 'VOID')).toBe(true);
    expect(calls.length).toBeGreaterThan(100);
  });

  it('finds nothing of them in any answer', async () => {
    for (const side of PLANTED_SIDES) expect(await leaks(skillParts(service.http), side, PUBLIC_CALLER)).toEqual([]);
  });

  it('gets the same bytes whatever they say, for every filter', async () => {
    expect(await differences(skillParts(service.http), PUBLIC_CALLER)).toEqual([]);
  });

  it('who has a wallet without the tier is told no more', async () => {
    expect(await differences(skillParts(service.http), { tier: 'public', wallet: `0x${'1'.repeat(40)}` })).toEqual([]);
  });
});

describe('these tests find a leak', () => {
  it('of a service that reveals at once', async () => {
    const different = await differences(revealing(), PUBLIC_CALLER);
    const found = await leaks(revealing(), 'up', PUBLIC_CALLER);
    for (const { id } of calls.filter((call) => call.id !== 'get_market_context')) {
      expect(different.some((label) => label.startsWith(id))).toBe(true);
      expect(found.some((label) => label.startsWith(id))).toBe(true);
    }
  });

  it('of a status that tells what was forecast', async () => {
    const careless = skillParts(service.http, { record: await withUntoldHolds() });
    const different = await differences(careless, PUBLIC_CALLER);
    expect(different.some((label) => label.includes('"status":"HOLD"'))).toBe(true);
    expect(different.some((label) => label.includes('"status":"PENDING"'))).toBe(true);
  });
});

/** A record whose forecasts are HOLD as soon as they say so. */
async function withUntoldHolds(): Promise<SkillParts['record']> {
  const { record } = service.http;
  const ofHorizon = async (horizonDays: number) =>
    (await record.ofHorizon(horizonDays)).map((doc) =>
      doc.values?.signal === 'HOLD' && doc.state === 'PENDING' ? { ...doc, state: 'HOLD' as const } : doc,
    );
  return Object.assign(Object.create(record) as SkillParts['record'], { ofHorizon });
}

describe('Basic', () => {
  it('gets values and salt that open every commitment that was made', async () => {
    const run = skillRunner(skillParts(service.http));
    const codes = { signal: { HOLD: 0, BUY: 1, SELL: 2 }, direction: { UP: 1, DOWN: 2 } } as const;
    const types = parseAbiParameters('bytes32, uint8, uint8, uint16, uint16, uint64');
    const own = await service.pipeline.record.forecasts.find({ day: TODAY - 20 }).toArray();
    expect(own).toEqual([]);
    const opened = await service.pipeline.record.forecasts.find({ reveal: { $ne: null } }).toArray();
    for (const { _id } of opened) {
      const { prediction } = (await run('verify_prediction', { predictionId: _id }, BASIC)).output;
      const { salt, signal, direction, confidence, pUp, btcPrice, commitment, attestationUid } = prediction;
      const numbers = [codes.signal[signal as 'BUY'], codes.direction[direction as 'UP']] as const;
      const bps = [Math.round(confidence * 10_000), Math.round(pUp * 10_000)] as const;
      const hash = keccak256(encodeAbiParameters(types, [salt, ...numbers, ...bps, BigInt(Math.round(btcPrice * 100))]));
      const onChain = await service.http.attestations.read(attestationUid);
      expect(hash).toBe(commitment);
      expect(onChain!.decoded).toContainEqual({ name: 'commitment', type: 'bytes32', value: hash });
    }
    expect(opened.length).toBeGreaterThan(10);
  });

  it('is told by the record that it was changed: what was planted does not open', async () => {
    await plant(service, 'up');
    const run = skillRunner(skillParts(service.http));
    const { output } = await run('verify_prediction', { predictionId: untold[0]._id }, BASIC);
    expect(output.verified).toBe(false);
    expect(output.prediction.signal).toBe('BUY');
  });
});
