import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRandom } from '../../../../src/forecast/bootstrap.ts';
import { computeSignTest, type ScoredForecast, testAdvantageOverAlwaysUp } from '../../../../src/forecast/statistics.ts';
import { FIRST, horizon, scored, scoredRecord, windowSigns } from './scored-forecasts.ts';

const down = (index: number, rose: boolean) => scored(index, { call: 'DOWN', rose });
/** Calls of DOWN on these days, all right or all wrong. */
const downs = (indices: readonly number[], rose = false) => indices.map((index) => down(index, rose));

describe('the sign test', () => {
  it('is exact', () => {
    expect(computeSignTest(0, 0)).toBe(1);
    expect(computeSignTest(5, 5)).toBeCloseTo(2 / 32, 12);
    expect(computeSignTest(6, 6)).toBeCloseTo(2 / 64, 12);
    expect(computeSignTest(9, 10)).toBeCloseTo((2 * 11) / 1024, 12);
    expect(computeSignTest(5, 10)).toBe(1);
    // scipy: binomtest(5125, 10000).pvalue
    expect(computeSignTest(5_125, 10_000)).toBeCloseTo(0.012770430992607777, 9);
  });

  it('returns a symmetric p-value that decreases away from one half', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 3_000 }), fc.nat(3_000), (n, drawn) => {
        const right = drawn % (n + 1);
        const chance = computeSignTest(right, n);
        expect(chance).toBeGreaterThanOrEqual(0);
        expect(chance).toBeLessThanOrEqual(1);
        expect(computeSignTest(n - right, n)).toBe(chance);
        if (2 * right > n) expect(chance).toBeLessThanOrEqual(computeSignTest(right - 1, n));
      }),
    );
  });
});

describe('the advantage over always-UP', () => {
  it('needs six DOWN calls, all right or all wrong', () => {
    const days = [0, 7, 14, 21, 28, 35];
    expect(testAdvantageOverAlwaysUp(downs(days.slice(1)), 7)).toBe(0);
    expect(testAdvantageOverAlwaysUp(downs(days), 7)).toBe(1);
    expect(testAdvantageOverAlwaysUp(downs(days, true), 7)).toBe(-1);
  });

  it('ignores overlapping windows, UP calls and HOLD', () => {
    expect(testAdvantageOverAlwaysUp(downs(Array.from({ length: 35 }, (_, index) => index)), 7)).toBe(0);
    expect(
      testAdvantageOverAlwaysUp(
        Array.from({ length: 400 }, (_, index) => scored(index, { rose: index % 10 > 0 })),
        7,
      ),
    ).toBe(0);
    expect(
      testAdvantageOverAlwaysUp(
        [0, 1, 2, 3, 4, 5].map((index) => scored(index, { call: null, rose: false })),
        1,
      ),
    ).toBe(0);
    expect(testAdvantageOverAlwaysUp([], 1)).toBe(0);
  });

  it('is not claimed from one cluster of a long record', () => {
    const record = (days: number) => Array.from({ length: days }, (_, index) => (index < 15 ? down(index, false) : scored(index)));
    expect(testAdvantageOverAlwaysUp(record(69), 1)).toBe(1);
    expect(testAdvantageOverAlwaysUp(record(70), 1)).toBe(0);
  });

  it('is not claimed when the daily difference disagrees', () => {
    // Right in two fortnights, and in three other places once: enough for chance, but most of it was gained in two runs.
    const isDown = (index: number) => index < 12 || (index >= 100 && index < 112) || [40, 70, 150].includes(index);
    const record = Array.from({ length: 200 }, (_, index) => (isDown(index) ? down(index, index >= 40 && index <= 70) : scored(index)));
    expect(computeSignTest(25, 27)).toBeLessThan(0.001);
    expect(testAdvantageOverAlwaysUp(record, 1)).toBe(0);
  });

  it('changes sign with the outcomes', () => {
    fc.assert(
      fc.property(scoredRecord(60), horizon, (record, h) => {
        const opposite = record.map((one): ScoredForecast => ({ ...one, rose: !one.rose }));
        expect(testAdvantageOverAlwaysUp(opposite, h) + testAdvantageOverAlwaysUp(record, h)).toBe(0);
      }),
    );
  });

  it.each([
    { days: 60, horizonDays: 1, share: 0.1 },
    { days: 69, horizonDays: 1, share: 0.5 },
    { days: 60, horizonDays: 7, share: 0.2 },
    { days: 113, horizonDays: 2, share: 0.5 },
    { days: 113, horizonDays: 7, share: 0.5 },
    { days: 365, horizonDays: 1, share: 0.5 },
  ])('has at most 5 % false positives: $days days at $horizonDays, DOWN by $share', ({ days, horizonDays, share }) => {
    const trials = 300;
    let claims = 0;
    for (let trial = 0; trial < trials; trial++) {
      const random = createRandom(50_000 + trial);
      if (testAdvantageOverAlwaysUp(withoutSkill({ days, horizonDays, share, random }), horizonDays) !== 0) claims++;
    }
    expect(claims / trials).toBeLessThanOrEqual(0.05 + 2 * Math.sqrt((0.05 * 0.95) / trials));
  });
});

/** Calls that last, and know nothing of a random walk. */
function withoutSkill(options: { days: number; horizonDays: number; share: number; random: () => number }): ScoredForecast[] {
  const { share, random } = options;
  let call: 'UP' | 'DOWN' = 'UP';
  return windowSigns(options).map((rose, index) => {
    if (index === 0 || random() > 0.8) call = random() < share ? 'DOWN' : 'UP';
    return { ...scored(index, { rose, call }), day: FIRST + index };
  });
}
