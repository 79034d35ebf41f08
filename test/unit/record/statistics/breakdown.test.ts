import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatDay, parseDay } from '../../../../src/forecast/day.ts';
import type { Regime } from '../../../../src/forecast/regime.ts';
import { buildHorizonRow, buildShareRow, countRevealedCalls, groupByModelVersion, groupByRegime } from '../../../../src/record/figures.ts';
import type { ForecastDoc } from '../../../../src/record/forecast-doc.ts';
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

describe('revealed calls', () => {
  const call = (index: number, signal: 'BUY' | 'SELL' | 'HOLD', state: 'HOLD' | 'PENDING' | 'VOID' = 'HOLD'): ForecastDoc => {
    const doc = buildTestForecast({ date: formatDay(FIRST + index), state, direction: signal === 'SELL' ? 'DOWN' : 'UP' });
    return { ...doc, values: { ...doc.values!, signal } };
  };

  it('are the newest 60 whose outcome is on chain', () => {
    const docs = Array.from({ length: 70 }, (_, index) => call(index, index < 10 ? 'BUY' : index < 12 ? 'SELL' : 'HOLD'));
    expect(countRevealedCalls(docs)).toEqual({ days: 60, buy: 0, sell: 2, hold: 58, up: 58, down: 2 });
  });

  it('leave out what is open, void, missed, or decided and not yet on chain', () => {
    const decided = { ...call(1, 'HOLD'), reveal: null };
    const missed = { ...call(4, 'HOLD', 'VOID'), missed: true, values: null };
    const docs = [call(0, 'BUY'), decided, call(2, 'SELL', 'PENDING'), call(3, 'SELL', 'VOID'), missed];
    expect(countRevealedCalls(docs)).toEqual({ days: 1, buy: 1, sell: 0, hold: 0, up: 1, down: 0 });
    expect(countRevealedCalls([])).toEqual({ days: 0, buy: 0, sell: 0, hold: 0, up: 0, down: 0 });
  });
});
