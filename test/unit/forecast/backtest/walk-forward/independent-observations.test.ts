import { describe, expect, it } from 'vitest';
import type { OutOfSampleDay } from '../../../../../src/forecast/backtest/out-of-sample.ts';
import { computeObservationsToProve, estimateIndependentObservations } from '../../../../../src/forecast/backtest/walk-forward.ts';
import { createRandom } from '../../../../../src/forecast/bootstrap.ts';

/** Days with UP calls, correct where `right` is true. */
function daysRight(right: readonly boolean[]): OutOfSampleDay[] {
  return right.map((rose, day) => ({ day, rose, pUp: 0.6 }) as OutOfSampleDay);
}

/** Whether sums of `windowDays` coin flips in a row are above zero, day by day. */
function overlapping(days: number, windowDays: number): boolean[] {
  const random = createRandom(5);
  const steps = Array.from({ length: days + windowDays }, () => random() - 0.5);
  return Array.from({ length: days }, (_, day) => steps.slice(day, day + windowDays).reduce((sum, step) => sum + step, 0) > 0);
}

describe('independent observations of daily calls', () => {
  it('returns one observation a day without overlap', () => {
    const { independentPerYear, independentPerYearByOverlap } = estimateIndependentObservations(daysRight(overlapping(20_000, 1)), 1);
    expect(independentPerYearByOverlap).toBe(365.25);
    expect(Math.abs(independentPerYear! / 365.25 - 1)).toBeLessThan(0.05);
  });

  it('decreases with overlap, slightly above the count by overlap alone', () => {
    const { independentPerYear, independentPerYearByOverlap } = estimateIndependentObservations(daysRight(overlapping(20_000, 7)), 7);
    expect(Math.abs(independentPerYearByOverlap - 70)).toBeLessThan(0.2);
    expect(independentPerYear! / independentPerYearByOverlap).toBeGreaterThan(1);
    expect(independentPerYear! / independentPerYearByOverlap).toBeLessThan(1.2);
  });

  it('returns a third for outcomes repeated three times', () => {
    const random = createRandom(9);
    const threes = Array.from({ length: 10_000 }, () => random() < 0.5).flatMap((right) => [right, right, right]);
    // Runs of three days that begin anywhere: two thirds of them lie in two threes, so that 1 / (1 + 2 * (2/3 * 2/3 + 1/3 * 1/3)).
    expect(Math.abs(estimateIndependentObservations(daysRight(threes), 1).independentPerYear! / (365.25 / (19 / 9)) - 1)).toBeLessThan(
      0.05,
    );
  });

  it('returns null for few runs and for constant outcomes', () => {
    expect(estimateIndependentObservations(daysRight(overlapping(629, 7)), 7).independentPerYear).toBeNull();
    expect(estimateIndependentObservations(daysRight(overlapping(630, 7)), 7).independentPerYear).not.toBeNull();
    const always = estimateIndependentObservations(daysRight(new Array(1000).fill(true)), 1);
    expect(always.independentPerYear).toBeNull();
    expect(always.proof).toEqual([
      { points: 3, years: null },
      { points: 10, years: null },
    ]);
  });

  it('caps the estimate at one a day', () => {
    const alternating = Array.from({ length: 3_420 }, (_, day) => day % 2 === 0);
    const { independentPerYear, independentPerYear95 } = estimateIndependentObservations(daysRight(alternating), 1);
    expect([independentPerYear, independentPerYear95]).toEqual([365.25, { low: 365.25, high: 365.25 }]);
    expect(estimateIndependentObservations(daysRight(overlapping(629, 7)), 7).independentPerYear95).toBeNull();
  });

  it('returns an interval that matches the spread of estimates', () => {
    const record = overlapping(60_000, 7);
    const truth = estimateIndependentObservations(daysRight(record), 7).independentPerYear!;
    const estimates = Array.from({ length: 20 }, (_, index) =>
      estimateIndependentObservations(daysRight(record.slice(3_000 * index, 3_000 * (index + 1))), 7),
    );
    const holding = estimates.filter(({ independentPerYear95: range }) => range!.low <= truth && truth <= range!.high);
    expect(holding.length).toBeGreaterThanOrEqual(17);
    const outside = estimates.filter(({ independentPerYear }) => Math.abs(independentPerYear! / truth - 1) > 0.05);
    expect(outside.length).toBeGreaterThan(3);
  });

  it('computes the sample size of a two-sided test at 5 % with a power of 80 %', () => {
    expect(computeObservationsToProve(0.1)).toBeCloseTo((1.96 + 0.8416) ** 2 * 25, 1);
    expect(computeObservationsToProve(0.03) / computeObservationsToProve(0.1)).toBeCloseTo((10 / 3) ** 2, 10);
    const { independentPerYear, proof } = estimateIndependentObservations(daysRight(overlapping(2_000, 2)), 2);
    expect(proof[1].years! * independentPerYear!).toBeCloseTo(computeObservationsToProve(0.1), 9);
  });
});
