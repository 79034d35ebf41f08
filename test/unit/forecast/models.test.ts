import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { formatDay, getWeekday, parseDay } from '../../../src/forecast/day.ts';
import { cdf, crps, quantile } from '../../../src/forecast/distribution.ts';
import { computeDailyVariance, computeFeatures, computeParkinson } from '../../../src/forecast/features.ts';
import { computeWindowFactor, getBlockIndex, M1_HORIZONS, type M1Horizon } from '../../../src/forecast/model.ts';
import { buildM1Distribution, computeScales, fitM1 } from '../../../src/forecast/models.ts';
import { sharedPath } from '../../support/record/shared.ts';
import { describeGolden, readCsvRows, readGoldenFrame } from './golden-frame.ts';

interface GoldenM1 {
  horizons: Record<string, { folds: GoldenFold[]; blocks: GoldenBlock[]; samples: GoldenSample[] }>;
}

interface GoldenFold {
  test_from: string;
  test_to: string;
  crps: number;
  cov80: number;
}

interface GoldenBlock {
  block: number;
  weekday_mult_mon_to_sun: number[];
  q1: Record<string, number>;
  q2: Record<string, number>;
}

interface GoldenSample {
  date: string;
  weekday: number;
  pUp: number;
  a94_parkinson: number;
  weekday_factor: number;
  s1: number;
  s2: number;
  quantiles: Record<string, number>;
  p_above: Record<string, number>;
  realised: number;
  crps: number;
}

const TOLERANCE = 1e-7;

describe('the variance of a day', () => {
  it('is that of its range, and null for a range that cannot be', () => {
    expect(computeParkinson(110, 100)).toBeCloseTo(Math.log(1.1) ** 2 / (4 * Math.LN2), 12);
    for (const [high, low] of [
      [100, 110],
      [100, 100],
      [100, 0],
      [100, -1],
      [500, 100],
      [Number.NaN, 100],
      [100, Number.NaN],
    ] as const)
      expect(computeParkinson(high, low)).toBeNull();
  });

  it('is the squared return where there is no usable range', () => {
    const ranges = { close: Float64Array.of(100, 110, 100), high: Float64Array.of(105, 99, 900), low: Float64Array.of(95, 100, 90) };
    const [first, ...others] = [0, 1, 2].map((row) => computeDailyVariance(ranges, row));
    expect(first).toBeCloseTo(computeParkinson(105, 95)!, 12);
    for (const variance of others) expect(variance).toBeCloseTo(Math.log(1.1) ** 2, 12);
  });
});

it('weekdays are those of UTC', () => {
  expect(['2026-11-23', '2026-11-29', '1969-12-29'].map((date) => getWeekday(parseDay(date)))).toEqual([0, 6, 0]);
  expect(computeWindowFactor([1, 2, 3, 4, 5, 6, 7], parseDay('2026-11-29'), 2)).toBe(1.5);
});

describeGolden('m1 and the reference', () => {
  const golden = JSON.parse(readFileSync(sharedPath('golden-m1', 'golden-m1.json'), 'utf8')) as GoldenM1;
  const frame = readGoldenFrame();
  const features = computeFeatures(frame);
  const data = { closes: frame.close, features };
  const rowOf = (date: string) => parseDay(date) - frame.firstDay;

  it('have the same variances', () => {
    const rows = readCsvRows(sharedPath('golden-m1', 'a94.csv'));
    expect(rows.length).toBeGreaterThan(4_000);
    for (const { date, parkinson, a94 } of rows) {
      expect(Math.abs(computeDailyVariance(frame, rowOf(date!)) - Number(parkinson)), date).toBeLessThan(TOLERANCE);
      expect(Math.abs(features.rangeVariance[rowOf(date!)]! - Number(a94)), date).toBeLessThan(TOLERANCE);
    }
  });

  describe.each(M1_HORIZONS)('at %d days', (horizonDays: M1Horizon) => {
    const { folds, blocks, samples } = golden.horizons[`${horizonDays}d`]!;
    const days = readCsvRows(sharedPath('golden-m1', 'oos_m1.csv'));

    it('have the same parameters of each block', () => {
      for (const { block, weekday_mult_mon_to_sun: factors, q1, q2 } of blocks) {
        const fit = fitM1(data, block, horizonDays);
        for (const [weekday, factor] of fit.weekdayFactors.entries())
          expect(Math.abs(factor - factors[weekday]!), `${block}`).toBeLessThan(TOLERANCE);
        for (const [grid, expected] of [
          [fit.returnQuantiles, q1],
          [fit.rangeQuantiles, q2],
        ] as const)
          for (const [level, value] of Object.entries(expected))
            expect(Math.abs(grid[Math.round(Number(level) * 200) - 1]! - value)).toBeLessThan(TOLERANCE);
      }
    });

    it('have the same distribution of the sample days', () => {
      for (const sample of samples) {
        const row = rowOf(sample.date);
        const fit = fitM1(data, getBlockIndex(parseDay(sample.date)), horizonDays);
        const scales = computeScales(features, fit.weekdayFactors, row, horizonDays);
        expect(
          [scales.fromReturns, scales.fromRanges].map((scale, index) => Math.abs(scale - [sample.s1, sample.s2][index]!) < TOLERANCE),
        ).toEqual([true, true]);
        const distribution = buildM1Distribution(fit, { features, row, pUp: sample.pUp });
        for (const [level, value] of Object.entries(sample.quantiles))
          expect(Math.abs(quantile(distribution, Number(level)) - value)).toBeLessThan(TOLERANCE);
        for (const [at, value] of Object.entries(sample.p_above))
          expect(Math.abs(1 - cdf(distribution, Math.log1p(Number(at))) - value)).toBeLessThan(TOLERANCE);
        expect(Math.abs(crps(distribution, sample.realised) - sample.crps)).toBeLessThan(TOLERANCE);
      }
    });

    it('have the same scores of each day and fold', () => {
      const scores = new Map<string, { crps: number; covered: boolean }>();
      for (const day of days) {
        const row = rowOf(day.date!);
        const fit = fitM1Cached(getBlockIndex(parseDay(day.date!)));
        const distribution = buildM1Distribution(fit, { features, row, pUp: Number(day[`p_${horizonDays}d`]) });
        const realised = Math.log(frame.close[row + horizonDays]! / frame.close[row]!);
        const [low, high] = [quantile(distribution, 0.1), quantile(distribution, 0.9)];
        const score = crps(distribution, realised);
        expect(Math.abs(score - Number(day[`crps_${horizonDays}d`])), day.date).toBeLessThan(TOLERANCE);
        scores.set(day.date!, { crps: score, covered: realised >= low && realised <= high });
      }
      for (const fold of folds) {
        const own = [...scores].filter(([date]) => date >= fold.test_from && date <= fold.test_to).map(([, score]) => score);
        expect(Math.abs(own.reduce((sum, score) => sum + score.crps, 0) / own.length - fold.crps), formatDay(0)).toBeLessThan(TOLERANCE);
        expect(own.filter(({ covered }) => covered).length / own.length).toBeCloseTo(fold.cov80, 7);
      }
    });

    const fits = new Map<number, ReturnType<typeof fitM1>>();
    function fitM1Cached(block: number) {
      if (!fits.has(block)) fits.set(block, fitM1(data, block, horizonDays));
      return fits.get(block)!;
    }
  });
});
