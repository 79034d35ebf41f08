import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  blockBootstrap,
  bootstrapPaths,
  bootstrapShares,
  chooseBlockDays,
  computeEffectiveCount,
  computeMeanInterval,
  createRandom,
  drawBlocks,
  SHARE_RANGE,
  studentQuantile,
} from '../../../src/forecast/bootstrap.ts';
import { fillsBlocks } from '../../../src/forecast/statistics.ts';
import { between } from '../../support/record/arbitraries.ts';
import { horizon, windowSigns } from './scored-forecasts.ts';

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
const DRAW = { days: 100, blockDays: 30, seed: 1, resamples: 50 };

describe('drawBlocks', () => {
  it('covers the days with blocks that start on one of them', () => {
    const starts = drawBlocks(DRAW);
    expect(starts.map((block) => block.length)).toEqual([50, 50, 50, 50]);
    expect(starts.flatMap((block) => [...block]).every((start) => start >= 0 && start < 100)).toBe(true);
  });

  it('depends on every one of its numbers, and on nothing else', () => {
    const first = drawBlocks(DRAW);
    const others = [{ days: 101 }, { blockDays: 10 }, { seed: 2 }, { resamples: 51 }].map((change) => drawBlocks({ ...DRAW, ...change }));
    for (const other of others) expect(other).not.toEqual(first);
    const again = drawBlocks({ ...DRAW });
    expect(again).toEqual(first);
    expect(drawBlocks({ ...DRAW })).toBe(again);
  });
});
const gaps = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 80 });

/** Days from the distances between them. */
function daysOf(distances: readonly number[]): number[] {
  let day = 0;
  return distances.map((distance) => {
    day += distance;
    return day;
  });
}

describe('effective count of overlapping windows', () => {
  it('equals n for one-day windows and 0 without any', () => {
    fc.assert(
      fc.property(gaps, (distances) => {
        expect(computeEffectiveCount(daysOf(distances), 1)).toBe(distances.length);
      }),
    );
    expect(computeEffectiveCount([], 7)).toBe(0);
  });

  it('lies between n / h and n', () => {
    fc.assert(
      fc.property(gaps, horizon, (distances, h) => {
        const worth = computeEffectiveCount(daysOf(distances), h);
        expect(worth).toBeLessThanOrEqual(distances.length);
        expect(worth).toBeGreaterThanOrEqual(distances.length / h - 1e-9);
      }),
    );
  });

  it('does not decrease with longer gaps', () => {
    fc.assert(
      fc.property(gaps, fc.nat(79), horizon, (distances, at, h) => {
        const longer = distances.with(at % distances.length, distances[at % distances.length] + 1);
        expect(computeEffectiveCount(daysOf(longer), h)).toBeGreaterThanOrEqual(computeEffectiveCount(daysOf(distances), h) - 1e-9);
      }),
    );
  });

  it('equals n without overlap', () => {
    expect(computeEffectiveCount([0, 7, 14, 30], 7)).toBe(4);
  });

  it('is 1.5 for two windows that share half their days', () => {
    expect(computeEffectiveCount([0, 1], 2)).toBeCloseTo(4 / (2 + 2 / 3), 12);
  });

  it('is about 70 for a year of 7-day windows', () => {
    const year = Array.from({ length: 365 }, (_, day) => day);
    expect(computeEffectiveCount(year, 7)).toBeGreaterThan(69);
    expect(computeEffectiveCount(year, 7)).toBeLessThan(71);
  });
});
describe("the 97.5 % quantile of Student's t", () => {
  it.each([
    [1, 12.7062],
    [2, 4.3027],
    [3, 3.1824],
    [4, 2.7764],
    [5, 2.5706],
    [4.5, 2.6589],
    [7.07, 2.3599],
    [10, 2.2281],
    [30, 2.0423],
    [120, 1.9799],
    [1_000_000, 1.96],
  ])('matches the tables at %d degrees of freedom', (degrees, expected) => {
    expect(Math.abs(studentQuantile(degrees) / expected - 1)).toBeLessThan(0.002);
  });

  it('decreases with the degrees of freedom', () => {
    for (let degrees = 1; degrees < 200; degrees++) expect(studentQuantile(degrees + 1)).toBeLessThan(studentQuantile(degrees));
  });
});

describe('mean intervals', () => {
  it('are null without values, unbounded for one', () => {
    expect(computeMeanInterval([])).toBeNull();
    expect(computeMeanInterval([3])).toEqual({ n: 1, mean: 3, low: null, high: null });
  });

  it('match a worked example', () => {
    // Mean 5, standard deviation 2.5820, standard error 1.2910.
    const { n, mean, low, high } = computeMeanInterval([2, 4, 6, 8])!;
    expect([n, mean]).toEqual([4, 5]);
    expect(high! - 5).toBeCloseTo(3.1824 * 1.29099, 1);
    expect(5 - low!).toBeCloseTo(high! - 5, 9);
  });

  it('contain the mean and scale with the values', () => {
    const values = fc.array(between(-100, 100), { minLength: 2, maxLength: 50 });
    fc.assert(
      fc.property(values, between(-10, 10), (sample, shift) => {
        const { mean, low, high } = computeMeanInterval(sample)!;
        expect(low!).toBeLessThanOrEqual(mean);
        expect(high!).toBeGreaterThanOrEqual(mean);
        const moved = computeMeanInterval(sample.map((value) => 2 * value + shift))!;
        expect(moved.mean).toBeCloseTo(2 * mean + shift, 6);
        expect(moved.high! - moved.low!).toBeCloseTo(2 * (high! - low!), 6);
      }),
    );
  });
});
/** Members of a record, and for each of some columns which of them are held. */
const records = fc
  .tuple(fc.integer({ min: 0, max: 420 }), fc.integer({ min: 0, max: 11 }))
  .chain(([days, columns]) =>
    fc.tuple(
      fc.array(fc.integer({ min: 0, max: 1 }), { minLength: days, maxLength: days }),
      fc.array(fc.array(fc.integer({ min: 0, max: 1 }), { minLength: days, maxLength: days }), { minLength: columns, maxLength: columns }),
    ),
  );

function bootstrapOneByOne(held: number[][], members: number[]) {
  return held.map((column) => blockBootstrap({ columns: [column, members], statistic: ([some, all]) => some / all, range: SHARE_RANGE }));
}

describe('the bootstrap of several shares', () => {
  it('gives each the interval of a bootstrap of its own, bit for bit', () => {
    fc.assert(
      fc.property(records, ([members, any]) => {
        const held = any.map((column) => column.map((flag, day) => flag * members[day]));
        expect(bootstrapShares(held, members)).toEqual(bootstrapOneByOne(held, members));
      }),
      { numRuns: 40 },
    );
  });

  it.each([1, 255, 256, 2_520, 4_066, 4_067, 8_192, 36_500])('counts %i days of ones exactly', (days) => {
    const ones = Array.from({ length: days }, () => 1);
    const none = ones.map(() => 0);
    const half = ones.map((_, day) => day % 2);
    const held = [ones, none, half, ones, half, none, ones, ones];
    expect(bootstrapShares(held, ones)).toEqual(bootstrapOneByOne(held, ones));
  });
});

describe('bootstrapPaths', () => {
  const column = Float64Array.from({ length: 400 }, (_, day) => Math.sin(day) + Math.sin(day / 40));
  const meanOf = (rows: Uint32Array) => rows.reduce((total, row) => total + column[row]!, 0) / rows.length;

  it('gives a mean the interval of its sums', () => {
    const [found] = bootstrapPaths(column.length, (rows) => [meanOf(rows)]);
    const interval = blockBootstrap({ columns: [column], statistic: ([total]) => total! / column.length })!;
    expect(found!.value).toBeCloseTo(meanOf(Uint32Array.from(column.keys())), 12);
    expect(found!.low).toBeCloseTo(interval.low, 12);
    expect(found!.high).toBeCloseTo(interval.high, 12);
  });

  it('keeps the days of a block in their order, and has no interval of fewer than five blocks', () => {
    const jumps = (rows: Uint32Array) => rows.filter((row, day) => day > 0 && row !== (rows[day - 1]! + 1) % 400).length;
    const [found] = bootstrapPaths(400, (rows) => [jumps(rows)], { blockDays: 80 });
    expect(found).toEqual({ value: 0, low: 0, high: expect.any(Number) });
    expect(found!.high).toBeGreaterThan(0);
    expect(bootstrapPaths(400, (rows) => [jumps(rows)], { blockDays: 90 })).toEqual([{ value: 0, low: null, high: null }]);
  });
});
