import type { Interval } from '../scoring.ts';
import { type BlockStarts, drawBlocks } from './block-draws.ts';
import { interpolateQuantile, sum } from './mean.ts';
import { studentQuantile } from './mean-interval.ts';
import { Z_95 } from './normal.ts';

/** A fixed seed, so that recomputing a record gives the same intervals. */
export const BOOTSTRAP_SEED = 20_170_403;
export const RESAMPLES = 2_000;
/** With fewer blocks their variance cannot be estimated. */
const MIN_BLOCKS = 5;
/** Probability of each tail outside a 95 % interval. */
const TAIL_PROBABILITY = 0.025;
/** Above this share, resamples without a finite value would come near the bounds. */
const MAX_UNDEFINED_SHARE = TAIL_PROBABILITY / 2;

export interface BootstrapOptions {
  /** Daily values by column, all of the same length; 0 on days without a contribution. */
  columns: readonly ArrayLike<number>[];
  /** Function of the column sums; not finite where the sums leave it undefined. */
  statistic(sums: Float64Array): number;
  /** A column that is 0 on days without influence on the statistic. Default: days on which all columns are 0. */
  informative?: ArrayLike<number>;
  range?: Interval;
  /** Default: by the length of the record. */
  blockDays?: number;
  seed?: number;
  resamples?: number;
}

/** An estimate with its 95 % interval by the block bootstrap; null bounds where the bootstrap gives none. */
export interface IntervalEstimate {
  value: number;
  low: number | null;
  high: number | null;
}

/** Block length of a long record: overlapping windows and market regimes make neighbouring days dependent. */
const LONG_BLOCK_DAYS = 30;
/** A shorter record has too few of these; twice the longest horizon is the minimum that keeps windows together. */
const SHORT_BLOCK_DAYS = 14;
const LONG_RECORD_FROM_DAYS = 300;

export function chooseBlockDays(days: number): number {
  return days < LONG_RECORD_FROM_DAYS ? SHORT_BLOCK_DAYS : LONG_BLOCK_DAYS;
}

/** Whether a record of `days` days is long enough to resample. */
export function fillsBlocks(days: number, blockDays = chooseBlockDays(days)): boolean {
  return days >= MIN_BLOCKS * blockDays;
}

export const SHARE_RANGE: Interval = { low: 0, high: 1 };

export function bootstrapEstimate(value: number, options: BootstrapOptions): IntervalEstimate {
  const interval = blockBootstrap(options);
  return { value, low: interval?.low ?? null, high: interval?.high ?? null };
}

/**
 * 95 % interval of a statistic of sums by the circular block bootstrap (Politis and Romano, 1992), which resamples runs of consecutive
 * days to keep their dependence. The percentiles are widened around the full-record statistic, since few blocks understate the variance.
 * Null where fewer than five blocks are informative or the statistic is undefined on too many resamples.
 */
export function blockBootstrap({ columns, statistic, informative, range, ...options }: BootstrapOptions): Interval | null {
  const plan = planResampling(columns[0]?.length ?? 0, informative ? [informative] : columns, options);
  if (plan === null) return null;
  const resampled = columns.map((column) => resampleColumn(column, plan));
  const sums = new Float64Array(columns.length);
  const found = new Float64Array(plan.resamples);
  for (let resample = 0; resample < found.length; resample++) {
    for (let column = 0; column < sums.length; column++) sums[column] = resampled[column][resample];
    found[resample] = statistic(sums);
  }
  columns.forEach((column, index) => {
    sums[index] = sum(column);
  });
  return toInterval(found, { estimate: statistic(sums), blocks: plan.blocks, range });
}

/** How the days of a record are resampled. */
export interface Resampling {
  days: number;
  blockDays: number;
  resamples: number;
  /** Of how many the variance is estimated. */
  blocks: number;
  starts: BlockStarts;
}

/** Null where fewer than five blocks have a day on which a column is not 0. */
export function planResampling(
  days: number,
  columns: readonly ArrayLike<number>[],
  { seed = BOOTSTRAP_SEED, resamples = RESAMPLES, ...options }: Pick<BootstrapOptions, 'blockDays' | 'seed' | 'resamples'> = {},
): Resampling | null {
  const blockDays = options.blockDays ?? chooseBlockDays(days);
  const blocks = Math.min(days / blockDays, countInformativeBlocks(columns, blockDays));
  if (blocks < MIN_BLOCKS) return null;
  return { days, blockDays, resamples, blocks, starts: drawBlocks({ days, blockDays, seed, resamples }) };
}

/** Disjoint blocks, counted greedily, that contain a day on which some column is not 0. */
function countInformativeBlocks(columns: readonly ArrayLike<number>[], blockDays: number): number {
  let blocks = 0;
  for (let day = 0; day < (columns[0]?.length ?? 0); day++) {
    if (columns.every((column) => column[day] === 0)) continue;
    blocks++;
    day += blockDays - 1;
  }
  return blocks;
}

interface Estimated {
  /** The statistic of the full record. */
  estimate: number;
  blocks: number;
  range: Interval | undefined;
}

/** Null where too many of the resampled values are undefined, as dropping them would bias the rest. */
export function toInterval(resampled: Float64Array, estimated: Estimated): Interval | null {
  let undefinedCount = 0;
  for (const value of resampled) if (!Number.isFinite(value)) undefinedCount++;
  if (undefinedCount > MAX_UNDEFINED_SHARE * resampled.length) return null;
  const sorted = (undefinedCount === 0 ? resampled : resampled.filter((value) => !Number.isNaN(value))).sort();
  const percentiles = { low: interpolateQuantile(sorted, TAIL_PROBABILITY), high: interpolateQuantile(sorted, 1 - TAIL_PROBABILITY) };
  return widenForFewBlocks(percentiles, estimated);
}

/** Uses Student's t for the normal quantile, and the sample variance for the resampling variance. */
function widenForFewBlocks({ low, high }: Interval, { estimate, blocks, range }: Estimated): Interval | null {
  const factor = (studentQuantile(blocks - 1) / Z_95) * Math.sqrt(blocks / (blocks - 1));
  const bounds = {
    low: Math.max(estimate - factor * Math.max(0, estimate - low), range?.low ?? Number.NEGATIVE_INFINITY),
    high: Math.min(estimate + factor * Math.max(0, high - estimate), range?.high ?? Number.POSITIVE_INFINITY),
  };
  return Number.isFinite(bounds.low) && Number.isFinite(bounds.high) ? bounds : null;
}

/** Sums of one column by resample, of whole blocks and a shorter last one, `days` days in all. */
export function resampleColumn(column: ArrayLike<number>, { days, blockDays, resamples, starts }: Resampling): Float64Array {
  const running = computeRunningSums(column, blockDays);
  const sums = new Float64Array(resamples);
  const blockSums = new Float64Array(days);
  let left = days;
  for (const block of starts) {
    const length = Math.min(blockDays, left);
    if (left === days || length < blockDays) {
      for (let day = 0; day < days; day++) blockSums[day] = running[day + length] - running[day];
    }
    for (let resample = 0; resample < resamples; resample++) sums[resample] += blockSums[block[resample]];
    left -= blockDays;
  }
  return sums;
}

/** Prefix sums, continued circularly past the end so that a block may begin on any day. */
function computeRunningSums(column: ArrayLike<number>, blockDays: number): Float64Array {
  const sums = new Float64Array(column.length + blockDays + 1);
  for (let index = 0; index < sums.length - 1; index++) sums[index + 1] = sums[index] + column[index % column.length];
  return sums;
}
