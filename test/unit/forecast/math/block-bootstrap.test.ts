import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { blockBootstrap, chooseBlockDays, createRandom, fillsBlocks } from '../../../../src/forecast/bootstrap.ts';
import { windowSigns } from '../statistics/scored-forecasts.ts';

const RESAMPLES = 200;
const ratio = ([a, b]: Float64Array) => a / b;
const ones = (length: number) => new Float64Array(length).fill(1);
const meanOf = (column: Float64Array | number[], more: { blockDays?: number; seed?: number; resamples?: number } = {}) =>
  blockBootstrap({
    ...{ columns: [column, ones(column.length)], statistic: ratio, resamples: RESAMPLES },
    ...{ range: { low: Math.min(...column), high: Math.max(...column) }, ...more },
  });

const values = fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 70, maxLength: 120 });

/** Zeros and ones, each one with the given chance. */
function coins(length: number, chance: number, seed: number): Float64Array {
  const random = createRandom(seed);
  return Float64Array.from({ length }, () => (random() < chance ? 1 : 0));
}

describe('the block bootstrap', () => {
  it('is deterministic and within the range of the data', () => {
    fc.assert(
      fc.property(values, (column) => {
        const interval = meanOf(column)!;
        expect(meanOf(column)).toEqual(interval);
        const mean = column.reduce((sum, value) => sum + value, 0) / column.length;
        expect(interval.low).toBeLessThanOrEqual(mean);
        expect(interval.high).toBeGreaterThanOrEqual(mean);
        expect(interval.low).toBeGreaterThanOrEqual(Math.min(...column));
        expect(interval.high).toBeLessThanOrEqual(Math.max(...column));
      }),
      { numRuns: 30 },
    );
  });

  it('depends on the seed', () => {
    const column = coins(100, 0.5, 1);
    expect(meanOf(column, { seed: 2 })).not.toEqual(meanOf(column, { seed: 3 }));
  });

  it('is invariant to the scale of a ratio', () => {
    fc.assert(
      fc.property(values, fc.constantFrom(0.25, 2, 1024), (column, unit) => {
        const columns = [column.map((value) => value * unit), ones(column.length).map((one) => one * unit)];
        const range = { low: Math.min(...column), high: Math.max(...column) };
        expect(blockBootstrap({ columns, statistic: ratio, range, resamples: RESAMPLES })).toEqual(meanOf(column));
      }),
      { numRuns: 30 },
    );
  });

  it('has zero width for constant data', () => {
    expect(meanOf(new Float64Array(90).fill(3))).toEqual({ low: 3, high: 3 });
  });

  it('returns null below five blocks', () => {
    expect(meanOf(coins(69, 0.5, 1))).toBeNull();
    expect(meanOf(coins(70, 0.5, 1))).not.toBeNull();
    expect([fillsBlocks(69), fillsBlocks(70), fillsBlocks(299), fillsBlocks(300)]).toEqual([false, true, true, true]);
    expect([chooseBlockDays(299), chooseBlockDays(300)]).toEqual([14, 30]);
    expect(meanOf([1, 0, 1, 1], { blockDays: 1 })).toBeNull();
    expect(meanOf([])).toBeNull();
  });

  it('returns null when informative days fill fewer than five blocks', () => {
    const on = (...days: number[]) => Float64Array.from({ length: 140 }, (_, day) => (days.includes(day) ? 1 : 0));
    const shareOn = (of: Float64Array) => blockBootstrap({ columns: [of, of], statistic: ratio, resamples: RESAMPLES });
    expect(shareOn(on(0, 139))).toBeNull();
    expect(shareOn(on(0, 13, 40, 45, 80, 93, 139))).toBeNull();
    const bearing = on(0, 139);
    expect(blockBootstrap({ columns: [ones(140), ones(140)], statistic: ratio, informative: bearing, resamples: RESAMPLES })).toBeNull();
    expect(meanOf(on(0, 30, 60, 90, 139))).not.toBeNull();
  });

  it('returns null when too many resamples are undefined, and never infinite bounds', () => {
    // So many runs of two days that are not 0: none of them is drawn by a chance of about exp(-1.5 runs), for two 5 %.
    const some = (runs: number) => Float64Array.from({ length: 140 }, (_, day) => (day < 8 * runs && day % 8 < 2 ? 1 : 0));
    const quotient = (columns: Float64Array[]) => blockBootstrap({ columns, statistic: ([a, b]) => 1 - a / b, blockDays: 2 });
    expect(quotient([ones(140), some(2)])).toBeNull();
    // Neither above nor below the others: without it they would be a choice.
    expect(quotient([some(2), some(2), ones(140)])).toBeNull();
    const interval = quotient([ones(140), some(3)])!;
    expect([Number.isFinite(interval.low), Number.isFinite(interval.high)]).toEqual([true, true]);
    const never = new Float64Array(200);
    expect(blockBootstrap({ columns: [never, never], statistic: ratio, resamples: RESAMPLES })).toBeNull();
  });

  it('stays within the range of the statistic', () => {
    const column = Float64Array.from({ length: 70 }, (_, day) => (day % 14 === 0 ? 0 : 1));
    column.fill(0, 0, 10);
    expect(meanOf(column)!.high).toBe(1);
    expect(blockBootstrap({ columns: [column, ones(70)], statistic: ratio })!.high).toBeGreaterThan(1);
  });

  it.each([
    { what: 'independent days', horizonDays: 1, days: 250, blockDays: 5 },
    { what: 'overlapping windows of a short record', horizonDays: 7, days: 70, blockDays: 14 },
    { what: 'overlapping windows of four months', horizonDays: 7, days: 113, blockDays: 14 },
  ])('has its nominal coverage on $what', ({ horizonDays, days, blockDays }) => {
    const trials = 1_000;
    let covered = 0;
    for (let trial = 0; trial < trials; trial++) {
      const column = windowSigns({ days, horizonDays, random: createRandom(1_000 + trial) }).map(Number);
      const { low, high } = meanOf(column, { blockDays, resamples: 400 })!;
      if (low <= 0.5 && high >= 0.5) covered++;
    }
    expect(covered / trials).toBeGreaterThan(0.92);
    expect(covered / trials).toBeLessThan(0.98);
  });

  it('is wider than resampling days for correlated data', () => {
    const weeks = coins(40, 0.5, 7);
    const alike = Float64Array.from({ length: 280 }, (_, day) => weeks[Math.floor(day / 7)]);
    const width = (blockDays: number) => {
      const { low, high } = meanOf(alike, { blockDays })!;
      return high - low;
    };
    expect(width(14)).toBeGreaterThan(1.8 * width(1));
  });
});
