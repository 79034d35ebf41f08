import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { computeEffectiveCount, createRandom } from '../../../src/forecast/bootstrap.ts';
import { summarizeRecord } from '../../../src/forecast/record-statistics.ts';
import { computeShareInterval, wilsonInterval } from '../../../src/forecast/signal.ts';
import { computeCallStatistics, type RecordRow } from '../../../src/forecast/statistics.ts';
import { scored, windowSigns } from './statistics/scored-forecasts.ts';

/** How often the interval of calls of UP, one a day, leaves out one half on a price without drift. */
function missedShare({ days, horizonDays, records }: { days: number; horizonDays: number; records: number }): number {
  const random = createRandom(7);
  const worth = computeEffectiveCount(
    Array.from({ length: days }, (_, day) => day),
    horizonDays,
  );
  let missed = 0;
  for (let record = 0; record < records; record++) {
    const rises = windowSigns({ days, horizonDays, random }).filter(Boolean).length;
    const { low, high } = computeShareInterval(rises / days, worth);
    if (low > 0.5 || high < 0.5) missed += 1;
  }
  return missed / records;
}

describe('computeShareInterval', () => {
  it.each([
    [1, 100],
    [3, 113],
    [7, 113],
    [7, 358],
  ])('covers the truth in about 95 % of records: %i days ahead on %i days', (horizonDays, days) => {
    const missed = missedShare({ days, horizonDays, records: 1_500 });
    expect(missed).toBeGreaterThan(0.03);
    expect(missed).toBeLessThan(0.07);
  });

  it('equals the Wilson interval of the counts without overlap', () => {
    expect(computeShareInterval(5 / 8, 8)).toEqual(wilsonInterval(5, 8));
  });

  it('is the same in the summary and in the statistics of a record', () => {
    const day = fc.record({ call: fc.constantFrom('UP', 'DOWN', null), rose: fc.boolean(), gap: fc.integer({ min: 1, max: 9 }) });
    fc.assert(
      fc.property(fc.array(day, { maxLength: 60 }), fc.constantFrom(1, 2, 3, 7), (days, horizonDays) => {
        let index = 0;
        const record = days.map(({ gap, ...changes }) => {
          index += gap;
          return scored(index, changes);
        });
        const rows = record.map((one): RecordRow => {
          const status = one.call === null ? 'HOLD' : (one.call === 'UP') === one.rose ? 'WIN' : 'LOSS';
          return { day: one.day, status, missed: false, scored: one };
        });
        const { wins, resolved, accuracy, accuracyInterval95, verdict } = summarizeRecord(rows, horizonDays);
        const { hits, n, accuracy: share, wilson95 } = computeCallStatistics(record, horizonDays);
        expect([wins, resolved, accuracy, accuracyInterval95]).toEqual([hits, n, share, wilson95]);
        if (wilson95 === null) return;
        expect(verdict).toContain(`: ${hits} of ${n} right`);
        expect(verdict).toContain(`95 % interval ${wilson95.low.toFixed(2)} to ${wilson95.high.toFixed(2)};`);
      }),
    );
  });
});
