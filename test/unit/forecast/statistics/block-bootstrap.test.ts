import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { blockBootstrap, blockDaysOf } from '../../../../src/forecast/statistics/block-bootstrap.ts';
import { createRandom } from '../../../../src/forecast/statistics/random.ts';

const RESAMPLES = 200;
const ratio = ([a, b]: Float64Array) => a / b;
const ones = (length: number) => new Float64Array(length).fill(1);
const meanOf = (column: ArrayLike<number>, more: { blockDays?: number; seed?: number } = {}) =>
  blockBootstrap({ columns: [column, ones(column.length)], statistic: ratio, resamples: RESAMPLES, ...more });

const values = fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 70, maxLength: 120 });

/** Zeros and ones, each one with the given chance. */
function coins(length: number, chance: number, seed: number): Float64Array {
  const random = createRandom(seed);
  return Float64Array.from({ length }, () => (random() < chance ? 1 : 0));
}

describe('the block bootstrap', () => {
  it('says the same of the same record, and keeps within what the record has', () => {
    fc.assert(
      fc.property(values, (column) => {
        const interval = meanOf(column)!;
        expect(meanOf(column)).toEqual(interval);
        expect(interval.low).toBeLessThanOrEqual(interval.high);
        expect(interval.low).toBeGreaterThanOrEqual(Math.min(...column));
        expect(interval.high).toBeLessThanOrEqual(Math.max(...column));
      }),
      { numRuns: 30 },
    );
  });

  it('draws otherwise with another seed', () => {
    const column = coins(100, 0.5, 1);
    expect(meanOf(column, { seed: 2 })).not.toEqual(meanOf(column, { seed: 3 }));
  });

  it('does not depend on the unit of what a ratio is made of', () => {
    fc.assert(
      fc.property(values, fc.constantFrom(0.25, 2, 1024), (column, unit) => {
        const columns = [column.map((value) => value * unit), ones(column.length).map((one) => one * unit)];
        expect(blockBootstrap({ columns, statistic: ratio, resamples: RESAMPLES })).toEqual(meanOf(column));
      }),
      { numRuns: 30 },
    );
  });

  it('leaves no doubt where nothing varies', () => {
    expect(meanOf(new Float64Array(90).fill(3))).toEqual({ low: 3, high: 3 });
  });

  it('says nothing below five blocks', () => {
    expect(meanOf(coins(69, 0.5, 1))).toBeNull();
    expect(meanOf(coins(70, 0.5, 1))).not.toBeNull();
    expect([blockDaysOf(299), blockDaysOf(300)]).toEqual([14, 30]);
    expect(meanOf([1, 0, 1, 1], { blockDays: 1 })).toBeNull();
    expect(meanOf([])).toBeNull();
  });

  it('says nothing of what can rarely be told', () => {
    const once = Float64Array.from({ length: 200 }, (_, day) => (day === 100 ? 1 : 0));
    expect(blockBootstrap({ columns: [once, once], statistic: ratio, blockDays: 2, resamples: RESAMPLES })).not.toBeNull();
    const never = new Float64Array(200);
    expect(blockBootstrap({ columns: [never, never], statistic: ratio, resamples: RESAMPLES })).toBeNull();
  });

  it('covers a known share about as often as it says', () => {
    const trials = 400;
    let covered = 0;
    for (let trial = 0; trial < trials; trial++) {
      const { low, high } = meanOf(coins(250, 0.55, 1_000 + trial), { blockDays: 5 })!;
      if (low <= 0.55 && high >= 0.55) covered++;
    }
    expect(covered / trials).toBeGreaterThan(0.9);
    expect(covered / trials).toBeLessThan(0.98);
  });

  it('is wider by blocks than by days where neighbours are alike', () => {
    const weeks = coins(40, 0.5, 7);
    const alike = Float64Array.from({ length: 280 }, (_, day) => weeks[Math.floor(day / 7)]);
    const width = (blockDays: number) => {
      const { low, high } = meanOf(alike, { blockDays })!;
      return high - low;
    };
    expect(width(14)).toBeGreaterThan(1.8 * width(1));
  });
});
