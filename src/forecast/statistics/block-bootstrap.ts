import type { Interval } from '../scoring.ts';
import { createRandom } from './random.ts';

/** Seed of every resampling: the same record has the same intervals wherever it is recomputed. */
export const BOOTSTRAP_SEED = 20_170_403;

export const RESAMPLES = 2_000;

/** Fewer blocks than this say nothing about how they vary. */
const LEAST_BLOCKS = 5;

/** 95 %: what is cut off at either end. */
const TAIL = 0.025;

export interface Resampling {
  /** Numbers a day, by column; all of the same length. A day that has nothing to add holds 0. */
  columns: readonly ArrayLike<number>[];
  /** Of the sums of the columns; not a number where it cannot be told from them. */
  statistic(sums: Float64Array): number;
  /** Default: by the length of the record. */
  blockDays?: number;
  seed?: number;
  resamples?: number;
}

/** Days of a block in a long record: outcomes of overlapping windows hang together, and so do the days of one mood of the market. */
const BLOCK_DAYS = 30;
/** A record shorter than `LONG_RECORD_DAYS` has too few of these; twice the longest horizon is the least that keeps windows together. */
const SHORT_BLOCK_DAYS = 14;
const LONG_RECORD_DAYS = 300;

/** Length of the blocks that a record of so many days is resampled by. */
export function blockDaysOf(days: number): number {
  return days < LONG_RECORD_DAYS ? SHORT_BLOCK_DAYS : BLOCK_DAYS;
}

/**
 * 95 % percentile interval of a statistic of sums by the circular block bootstrap (Politis and Romano, 1992): runs of consecutive days
 * are drawn, not days, so that what hangs together stays together. Null below five blocks.
 */
export function blockBootstrap({
  columns,
  statistic,
  seed = BOOTSTRAP_SEED,
  resamples = RESAMPLES,
  ...asked
}: Resampling): Interval | null {
  const days = columns[0]?.length ?? 0;
  const blockDays = asked.blockDays ?? blockDaysOf(days);
  if (days < LEAST_BLOCKS * blockDays) return null;
  const running = columns.map((column) => runningSums(column, blockDays));
  const random = createRandom(seed);
  const found: number[] = [];
  const sums = new Float64Array(columns.length);
  for (let resample = 0; resample < resamples; resample++) {
    drawSums(sums, running, { days, blockDays, random });
    const value = statistic(sums);
    if (!Number.isNaN(value)) found.push(value);
  }
  if (found.length < resamples / 2) return null;
  const sorted = Float64Array.from(found).sort();
  return { low: quantileOf(sorted, TAIL), high: quantileOf(sorted, 1 - TAIL) };
}

/** Sums of one resample: whole blocks, and a shorter one at the end, until there are as many days as there were. */
function drawSums(
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
function runningSums(column: ArrayLike<number>, blockDays: number): Float64Array {
  const sums = new Float64Array(column.length + blockDays + 1);
  for (let index = 0; index < sums.length - 1; index++) sums[index + 1] = sums[index] + column[index % column.length];
  return sums;
}

/** Hyndman and Fan's type 7. */
function quantileOf(sorted: Float64Array, level: number): number {
  const position = level * (sorted.length - 1);
  const below = Math.floor(position);
  const above = Math.min(below + 1, sorted.length - 1);
  return sorted[below] + (position - below) * (sorted[above] - sorted[below]);
}
