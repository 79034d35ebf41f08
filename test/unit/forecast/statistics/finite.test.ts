import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseDay } from '../../../../src/forecast/day.ts';
import { computeRecordStatistics, summarizeRecord } from '../../../../src/forecast/record-statistics.ts';
import type { RecordRow, ScoredForecast } from '../../../../src/forecast/statistics.ts';
import { horizon, scored, scoredRecord } from './scored-forecasts.ts';

/** Nested numbers that JSON cannot represent. */
function untellable(tree: unknown, path = ''): string[] {
  if (typeof tree === 'number') return Number.isFinite(tree) ? [] : [`${path} is ${tree}`];
  if (typeof tree !== 'object' || tree === null) return [];
  return Object.entries(tree).flatMap(([key, value]) => untellable(value, `${path}.${key}`));
}

const row = (one: ScoredForecast): RecordRow => ({
  day: one.day,
  status: one.call === null ? 'HOLD' : (one.call === 'UP') === one.rose ? 'WIN' : 'LOSS',
  missed: false,
  scored: one,
});

/** Records at whose edges divisors vanish: falls in some places only, probabilities and base rates that are certain, long gaps. */
const oddRecord = fc
  .record({
    days: fc.integer({ min: 1, max: 160 }),
    falls: fc.constantFrom('none', 'all', 'one', 'a week', 'two weeks', 'now and then'),
    call: fc.constantFrom('UP', 'DOWN', null, 'both'),
    pUp: fc.constantFrom(0, 0.55, 1, 'right', 1e-170),
    climatology: fc.constantFrom(0, 0.53, 1, 'right', 1e-170, null),
    every: fc.constantFrom(1, 1, 3, 40),
  })
  .map(({ days, falls, call, pUp, climatology, every }) => {
    const places = { none: [], all: [[0, 999]], one: [[60, 61]], 'a week': [[50, 57]], 'two weeks': [[9, 16], [90, 97]], 'now and then': [[3, 5], [33, 40], [80, 82], [100, 101], [140, 150]] }; // biome-ignore format: one line a place
    const fell = (index: number) => places[falls as keyof typeof places].some(([from, to]) => index >= from && index < to);
    const sure = <T>(said: T | 'right', rose: boolean) => (said === 'right' ? Number(rose) : said);
    return Array.from({ length: days }, (_, index): ScoredForecast => {
      const rose = !fell(index);
      const called = call === 'both' ? (index % 4 === 0 ? 'DOWN' : 'UP') : (call as ScoredForecast['call']);
      return scored(index * every, { rose, call: called, pUp: sure(pUp, rose) as number, climatology: sure(climatology, rose) as number });
    });
  });

describe('statistics of degenerate records', () => {
  it('are finite or null', () => {
    fc.assert(
      fc.property(fc.oneof(oddRecord, scoredRecord(150)), horizon, (record, h) => {
        expect(untellable(computeRecordStatistics(record, h))).toEqual([]);
        expect(untellable(summarizeRecord(record.map(row), h))).toEqual([]);
      }),
      { numRuns: 150 },
    );
  });

  it('survive JSON without new nulls', () => {
    // A quarter of a year in which it fell for one week.
    const quarter = Array.from({ length: 80 }, (_, index) => scored(index, { rose: index < 50 || index > 56 }));
    const made = computeRecordStatistics(quarter, 7);
    expect(JSON.parse(JSON.stringify(made))).toEqual(made);
    expect(made.probabilities!.alwaysUpSkill).toMatchObject({ low: null, high: null });
  });

  it('accept gaps of years', () => {
    const apart = [scored(0), scored(parseDay('2030-01-01') - parseDay('2026-01-01'), { rose: false })];
    expect(untellable(computeRecordStatistics(apart, 7))).toEqual([]);
    expect(computeRecordStatistics(apart, 7).calls.bootstrap95).toBeNull();
  });
});
