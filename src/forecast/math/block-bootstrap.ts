import type { Interval } from '../scoring.ts';
import { studentQuantile } from './mean-interval.ts';
import { createRandom } from './random.ts';

/** Seed of every resampling: the same record has the same intervals wherever it is recomputed. */
export const BOOTSTRAP_SEED = 20_170_403;

export const RESAMPLES = 2_000;

/** Fewer blocks than this say nothing about how they vary. */
const MIN_BLOCKS = 5;

/** 95 %: what is cut off at either end. */
const TAIL_PROBABILITY = 0.025;

/** More resamples than this without a finite value would come near the bounds. */
const MAX_UNDEFINED_SHARE = TAIL_PROBABILITY / 2;

/** The 97.5 % quantile of the normal distribution. */
const Z_95 = 1.959963984540054;

export interface BootstrapOptions {
  /** Numbers a day, by column; all of the same length. A day that has nothing to add holds 0. */
  columns: readonly ArrayLike<number>[];
  /** Of the sums of the columns; not finite where it cannot be told from them. */
  statistic(sums: Float64Array): number;
  /** A column that is 0 on days that do not bear on the statistic. Default: those on which all columns are 0. */
  informative?: ArrayLike<number>;
  /** What the statistic can be at all; without bounds by default. */
  range?: Interval;
  /** Default: by the length of the record. */
  blockDays?: number;
  seed?: number;
  resamples?: number;
}

/** Days of a block in a long record: outcomes of overlapping windows hang together, and so do the days of one mood of the market. */
const LONG_BLOCK_DAYS = 30;
/** A record shorter than `LONG_RECORD_DAYS` has too few of these; twice the longest horizon is the least that keeps windows together. */
const SHORT_BLOCK_DAYS = 14;
const LONG_RECORD_FROM_DAYS = 300;

/** Length of the blocks that a record of so many days is resampled by. */
export function chooseBlockDays(days: number): number {
  return days < LONG_RECORD_FROM_DAYS ? SHORT_BLOCK_DAYS : LONG_BLOCK_DAYS;
}

/** Whether a record of so many days can be resampled, however few of them bear on a statistic. */
export function fillsBlocks(days: number, blockDays = chooseBlockDays(days)): boolean {
  return days >= MIN_BLOCKS * blockDays;
}

/** What a share can be. */
export const SHARE_RANGE: Interval = { low: 0, high: 1 };

/**
 * 95 % interval of a statistic of sums by the circular block bootstrap (Politis and Romano, 1992): runs of consecutive days are drawn,
 * not days, so that what hangs together stays together. The percentiles are moved away from the statistic of the whole record, which
 * is always inside, since few blocks vary too little among themselves. Null where the record or the days that bear on the statistic
 * fill fewer than five blocks, and where the statistic cannot be told from too many resamples.
 */
export function blockBootstrap({
  columns,
  statistic,
  seed = BOOTSTRAP_SEED,
  resamples = RESAMPLES,
  ...options
}: BootstrapOptions): Interval | null {
  const days = columns[0]?.length ?? 0;
  const blockDays = options.blockDays ?? chooseBlockDays(days);
  const blocks = Math.min(days / blockDays, countInformativeBlocks(options.informative ? [options.informative] : columns, blockDays));
  if (blocks < MIN_BLOCKS) return null;
  const running = columns.map((column) => computeRunningSums(column, blockDays));
  const random = createRandom(seed);
  const found: number[] = [];
  const sums = new Float64Array(columns.length);
  for (let resample = 0; resample < resamples; resample++) {
    resampleSums(sums, running, { days, blockDays, random });
    found.push(statistic(sums));
  }
  const percentiles = computePercentiles(found);
  const estimate = statistic(Float64Array.from(running, (column) => column[days]));
  return percentiles === null ? null : widenForFewBlocks(percentiles, { estimate, blocks, range: options.range });
}

/** How many blocks the days that are not 0 in all columns fill, counted from each that the block before does not reach. */
function countInformativeBlocks(columns: readonly ArrayLike<number>[], blockDays: number): number {
  let blocks = 0;
  for (let day = 0; day < (columns[0]?.length ?? 0); day++) {
    if (columns.every((column) => column[day] === 0)) continue;
    blocks++;
    day += blockDays - 1;
  }
  return blocks;
}

/** Percentiles of the resampled values; null where too many are not finite, so that the others would be a choice among the resamples. */
function computePercentiles(values: readonly number[]): Interval | null {
  const undefinedCount = values.filter((value) => !Number.isFinite(value)).length;
  if (undefinedCount > MAX_UNDEFINED_SHARE * values.length) return null;
  const sorted = Float64Array.from(values.filter((value) => !Number.isNaN(value))).sort();
  return { low: interpolateQuantile(sorted, TAIL_PROBABILITY), high: interpolateQuantile(sorted, 1 - TAIL_PROBABILITY) };
}

/** By Student's t instead of the normal distribution, and the variance of a sample instead of that of its own resamples. */
function widenForFewBlocks(
  { low, high }: Interval,
  { estimate, blocks, range }: { estimate: number; blocks: number; range: Interval | undefined },
): Interval | null {
  const factor = (studentQuantile(blocks - 1) / Z_95) * Math.sqrt(blocks / (blocks - 1));
  const bounds = {
    low: Math.max(estimate - factor * Math.max(0, estimate - low), range?.low ?? Number.NEGATIVE_INFINITY),
    high: Math.min(estimate + factor * Math.max(0, high - estimate), range?.high ?? Number.POSITIVE_INFINITY),
  };
  return Number.isFinite(bounds.low) && Number.isFinite(bounds.high) ? bounds : null;
}

/** Sums of one resample: whole blocks, and a shorter one at the end, until there are as many days as there were. */
function resampleSums(
  sums: Float64Array,
  running: readonly Float64Array[],
  { days, blockDays, random }: { days: number; blockDays: number; random: () => number },
): void {
  sums.fill(0);
  for (let left = days; left > 0; left -= blockDays) {
    const start = Math.floor(random() * days);
    const end = start + Math.min(blockDays, left);
    for (let column = 0; column < sums.length; column++) sums[column] += running[column][end] - running[column][start];
  }
}

/** Sum of everything before each day; goes on from the front behind the end, so that a block may begin on any day. */
function computeRunningSums(column: ArrayLike<number>, blockDays: number): Float64Array {
  const sums = new Float64Array(column.length + blockDays + 1);
  for (let index = 0; index < sums.length - 1; index++) sums[index + 1] = sums[index] + column[index % column.length];
  return sums;
}

/** Hyndman and Fan's type 7. */
function interpolateQuantile(sorted: Float64Array, level: number): number {
  const position = level * (sorted.length - 1);
  const below = Math.floor(position);
  const above = Math.min(below + 1, sorted.length - 1);
  // The difference of two infinite values is not a number.
  if (sorted[below] === sorted[above]) return sorted[below];
  return sorted[below] + (position - below) * (sorted[above] - sorted[below]);
}
