import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { computeCallStatistics, toDailyColumn } from '../../../../src/forecast/statistics.ts';
import { FIRST, horizon, scored, scoredRecord } from './scored-forecasts.ts';

describe('statistics of calls', () => {
  it('exclude HOLD, and every interval contains its share', () => {
    fc.assert(
      fc.property(scoredRecord(60), horizon, (record, h) => {
        const { n, hits, accuracy, effectiveN, wilson95, alwaysUp } = computeCallStatistics(record, h);
        const calls = record.filter(({ call }) => call !== null);
        expect(n).toBe(calls.length);
        expect(hits).toBe(calls.filter(({ call, rose }) => (call === 'UP') === rose).length);
        expect(effectiveN).toBeLessThanOrEqual(n);
        if (n === 0) {
          expect([accuracy, wilson95, alwaysUp]).toEqual([null, null, null]);
          return;
        }
        expect(wilson95!.low).toBeLessThanOrEqual(accuracy!);
        expect(wilson95!.high).toBeGreaterThanOrEqual(accuracy!);
        expect(alwaysUp!.difference.value).toBeCloseTo(accuracy! - alwaysUp!.accuracy, 12);
      }),
    );
  });

  it('put each call into exactly one offset', () => {
    fc.assert(
      fc.property(scoredRecord(60), horizon, (record, h) => {
        const { n, hits, offsets } = computeCallStatistics(record, h);
        const sumOf = (what: 'n' | 'hits') => offsets.reduce((sum, offset) => sum + offset[what], 0);
        expect([sumOf('n'), sumOf('hits')]).toEqual([n, hits]);
        expect(offsets.map(({ offsetDays }) => offsetDays)).toEqual(n === 0 ? [] : Array.from({ length: h }, (_, index) => index));
      }),
    );
    const { offsets } = computeCallStatistics(
      [0, 1, 2, 4].map((index) => scored(index, { rose: index !== 2 })),
      2,
    );
    expect(offsets).toEqual([
      { offsetDays: 0, n: 3, hits: 2, accuracy: 2 / 3 },
      { offsetDays: 1, n: 1, hits: 1, accuracy: 1 },
    ]);
  });

  it('have bootstrap intervals from five blocks', () => {
    const record = (days: number) => Array.from({ length: days }, (_, index) => scored(index, { rose: index % 3 !== 0 }));
    expect(computeCallStatistics(record(69), 7)).toMatchObject({
      bootstrap95: null,
      alwaysUp: { difference: { value: 0, low: null, high: null } },
    });
    const { accuracy, bootstrap95, alwaysUp } = computeCallStatistics(record(70), 7);
    expect(bootstrap95!.low).toBeLessThanOrEqual(accuracy!);
    expect(bootstrap95!.high).toBeGreaterThanOrEqual(accuracy!);
    expect(alwaysUp!.difference).toEqual({ value: 0, low: null, high: null });
  });

  it('have no bootstrap interval for clustered calls of a long record', () => {
    const at = (...indices: number[]) =>
      computeCallStatistics(
        indices.map((index) => scored(index)),
        7,
      );
    expect(at(0, 69).bootstrap95).toBeNull();
    expect(at(0, 1, 2, 100, 101, 290).bootstrap95).toBeNull();
    expect(at(0, 20, 40, 60, 80).bootstrap95).toEqual({ low: 1, high: 1 });
  });

  it('stay in range for few blocks', () => {
    const record = (call: (index: number) => 'UP' | 'DOWN') =>
      Array.from({ length: 70 }, (_, index) => scored(index, { call: call(index) }));
    expect(
      computeCallStatistics(
        record((index) => (index < 12 ? 'DOWN' : 'UP')),
        1,
      ).bootstrap95!.high,
    ).toBe(1);
    const { bootstrap95, alwaysUp } = computeCallStatistics(
      record((index) => (index >= 58 || index % 14 === 0 ? 'UP' : 'DOWN')),
      1,
    );
    expect([bootstrap95!.low, alwaysUp!.difference.low]).toEqual([0, -1]);
  });

  it('have an interval of the always-UP difference when DOWN calls fill five blocks', () => {
    const record = (places: number) =>
      Array.from({ length: 140 }, (_, index) =>
        scored(index, index % 28 === 0 && index < places * 28 ? { call: 'DOWN', rose: false } : {}),
      );
    expect(computeCallStatistics(record(4), 1).alwaysUp!.difference).toEqual({ value: 4 / 140, low: null, high: null });
    const { value, low, high } = computeCallStatistics(record(5), 1).alwaysUp!.difference;
    expect(low!).toBeLessThan(value);
    expect(high!).toBeGreaterThan(value);
  });

  it('reject days that do not ascend', () => {
    const refused = expect.objectContaining({ code: 'INPUT_INVALID', message: expect.stringContaining('2026-01-02') });
    expect(() => computeCallStatistics([scored(1), scored(1)], 1)).toThrow(refused);
    expect(() => computeCallStatistics([scored(2), scored(1)], 1)).toThrow(refused);
  });
});

describe('daily columns', () => {
  it('are 0 on days without a forecast', () => {
    expect(toDailyColumn([{ day: FIRST }, { day: FIRST + 3 }], ({ day }) => day)).toEqual(Float64Array.of(FIRST, 0, 0, FIRST + 3));
    expect(toDailyColumn([], () => 1)).toHaveLength(0);
  });
});
