import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SKILLS } from '../../../skills/index.ts';
import { PUBLIC_CALLER } from '../../../src/auth/caller.ts';
import { formatDay } from '../../../src/forecast/day.ts';
import { undocumented } from '../../support/http/reply-schema.ts';
import { emptyService, fullService, youngService } from '../../support/service/full-service.ts';
import type { TestService } from '../../support/service/service.ts';
import { BASIC, buildSkillDeps, createTestRunner, PREMIUM, type RunSkillById } from '../../support/service/skills.ts';

const CALLERS = { anybody: PUBLIC_CALLER, basic: BASIC, premium: PREMIUM };
const HORIZONS = ['1d', '2d', '3d', '7d'];

type Call = [id: string, input: Record<string, unknown>];

async function callsOn({ pipeline }: TestService): Promise<Call[]> {
  const docs = await pipeline.record.forecasts.find().sort({ day: 1, horizonDays: 1 }).toArray();
  const some = [...docs.slice(0, 4), ...docs.slice(-8)];
  const uids = some.flatMap(({ attestation, reveal }) => [attestation?.uid, reveal?.uid]).filter((uid) => uid !== undefined);
  const from = docs.length === 0 ? '2026-01-01' : formatDay(docs[Math.floor(docs.length / 2)].day);
  return [
    ...['2d', '3d', '7d'].map((horizon): Call => ['predict_btc_direction', { horizon }]),
    ...some.map(({ _id }): Call => ['verify_prediction', { predictionId: _id }]),
    ...uids.map((uid): Call => ['verify_prediction', { uid }]),
    ...HORIZONS.map((horizon): Call => ['get_track_record', { horizon }]),
    ...['PENDING', 'WIN', 'LOSS', 'HOLD', 'VOID'].map((status): Call => ['get_track_record', { horizon: '1d', status }]),
    ...['CHOP', 'CRISIS', 'DEFAULT'].map((regime): Call => ['get_track_record', { horizon: '2d', regime }]),
    ['get_track_record', { horizon: '1d', from, page: 2, pageSize: 1 }],
    ['get_track_record', { to: from, page: 100_000 }],
    ...SKILLS.filter(({ errors }) => !errors.includes('NOT_FOUND')).flatMap(({ id, examples }) =>
      examples.map(({ input }): Call => [id, input]),
    ),
    ...['price', 'sentiment', 'flows', 'macro', 'regime'].map((section): Call => ['get_market_context', { include: [section] }]),
  ];
}

const skillOf = (id: string) => SKILLS.find((skill) => skill.id === id)!;

describe.each([
  ['with a record', fullService, 12],
  ['none of whose forecasts is resolved', youngService, 12],
  ['before its first forecast', emptyService, 0],
])('every skill on a service %s', (_, open, forecasts) => {
  let service: TestService;
  let run: RunSkillById;
  let calls: Call[];

  beforeAll(async () => {
    service = await open();
    run = createTestRunner(buildSkillDeps(service.http));
    calls = await callsOn(service);
  });
  afterAll(() => service?.stop());

  it.each(Object.entries(CALLERS))('returns %s that fits its schema, and plain text', async (name, caller) => {
    expect(calls.filter(([id]) => id === 'verify_prediction').length).toBeGreaterThanOrEqual(forecasts);
    for (const [id, input] of calls) {
      const label = `${id} ${JSON.stringify(input)}`;
      const skill = skillOf(id);
      const asksForPublicPart = 'detail' in input && input.detail === 'public';
      if (skill.tier !== 'public' && !asksForPublicPart && name === 'anybody') {
        await expect(run(id, input, caller), label).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
      } else if (forecasts === 0 && skill.errors.includes('STEP_WAITING')) {
        await expect(run(id, input, caller), label).rejects.toMatchObject({ code: 'STEP_WAITING', retryable: true });
      } else {
        const { output, text } = await run(id, input, caller);
        expect(undocumented(asksForPublicPart ? skill.publicPart!.output : skill.output, output), label).toEqual([]);
        expect(JSON.parse(JSON.stringify(output)), label).toEqual(output);
        const lines = text.split('\n');
        expect(lines.length, label).toBeLessThanOrEqual(8);
        expect(lines.length, label).toBeGreaterThanOrEqual('include' in input ? 2 : 3);
        for (const line of lines) expect(line, label).toMatch(/^[A-Z\d].{5,400}\.$/);
        expect(text, label).not.toMatch(/undefined|null|NaN|\[object|`/);
      }
    }
  });
});
