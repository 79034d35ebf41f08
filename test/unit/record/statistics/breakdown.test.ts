import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatDay, parseDay } from '../../../../src/forecast/day.ts';
import type { Regime } from '../../../../src/forecast/regime/regime.ts';
import type { ForecastDoc } from '../../../../src/record/forecast-doc.ts';
import { buildHorizonRow, buildShareRow, groupByModelVersion, groupByRegime } from '../../../../src/record/statistics/breakdown.ts';
import { buildTestForecast } from '../forecast-fixture.ts';

const FIRST = parseDay('2026-01-01');

const drawn = fc
  .array(
    fc.record({
      state: fc.constantFrom('WIN', 'LOSS', 'HOLD', 'VOID', 'PENDING', 'DRAFT'),
      regime: fc.constantFrom<Regime | null>('CHOP', 'CRISIS', null),
      version: fc.boolean(),
    }),
    { maxLength: 40 },
  )
  .map((items) =>
    items.map(({ state, regime, version }, index): ForecastDoc => {
      const doc = buildTestForecast({ date: formatDay(FIRST + index), state, actual: state === 'LOSS' ? 'DOWN' : 'UP' });
      return { ...doc, regime, modelVersion: regime === null ? null : version || index > 20 ? 'new' : 'old' };
    }),
  );

describe('a record by its parts', () => {
  it('has every forecast in one row of each kind', () => {
    fc.assert(
      fc.property(drawn, fc.constantFrom(1, 2, 3, 7), (docs, h) => {
        const whole = buildShareRow(docs, h);
        for (const rows of [groupByRegime(docs, h), groupByModelVersion(docs, h)]) {
          for (const what of ['total', 'resolved', 'wins'] as const)
            expect(rows.reduce((sum, row) => sum + row[what], 0)).toBe(whole[what]);
          for (const { effectiveN, resolved, accuracy, accuracyInterval95 } of rows) {
            expect(effectiveN).toBeLessThanOrEqual(resolved);
            if (accuracy === null || accuracyInterval95 === null) {
              expect([resolved, accuracyInterval95]).toEqual([0, null]);
              continue;
            }
            expect(accuracyInterval95.low).toBeLessThanOrEqual(accuracy);
            expect(accuracyInterval95.high).toBeGreaterThanOrEqual(accuracy);
          }
        }
      }),
    );
  });

  it('counts unscored forecasts in the row of a horizon', () => {
    const docs = (['WIN', 'HOLD', 'VOID', 'DRAFT', 'PENDING'] as const).map((state, index) =>
      buildTestForecast({ date: formatDay(FIRST + index), state }),
    );
    docs[2] = { ...docs[2], missed: true, values: null, regime: null };
    expect(buildHorizonRow(docs, 7)).toMatchObject({
      ...{ horizon: '7d', total: 5, resolved: 1, wins: 1, holds: 1, voids: 1, missed: 1, pending: 2, effectiveN: 1, accuracy: 1 },
      brier: { n: 2 },
      verdict: expect.stringContaining('1 of 1 right'),
    });
  });

  it('has the most frequent regime and the newest model first', () => {
    const docs = [0, 1, 2].map((index) => ({
      ...buildTestForecast({ date: formatDay(FIRST + index) }),
      regime: (['CRISIS', 'CHOP', 'CHOP'] as const)[index],
      modelVersion: ['old', 'old', 'new'][index],
    }));
    expect(groupByRegime(docs, 7).map(({ regime, total }) => [regime, total])).toEqual([
      ['CHOP', 2],
      ['CRISIS', 1],
    ]);
    expect(groupByModelVersion(docs, 7).map(({ modelVersion, total }) => [modelVersion, total])).toEqual([
      ['new', 1],
      ['old', 2],
    ]);
  });
});
