import { OracleError } from '../errors.ts';
import { type Day, formatDay } from './day.ts';
import { interpolateQuantile, mean, sum, variance, Z_95 } from './math.ts';
import type { Interval } from './signal.ts';

/**
 * Effective sample size of outcomes with overlapping windows: n^2 over the sum of all pairwise correlations. Two windows of h days that
 * begin k days apart share h - k daily returns; the correlation of their signs is (2 / pi) asin(1 - k / h) for driftless Gaussian returns.
 * @throws OracleError INPUT_INVALID unless days strictly ascend
 */
export function computeEffectiveCount(days: readonly Day[], horizonDays: number): number {
  let sum = days.length;
  for (let later = 0; later < days.length; later++) {
    if (later > 0) requireAscending(days[later - 1], days[later]);
    for (let earlier = later - 1; earlier >= 0 && days[later] - days[earlier] < horizonDays; earlier--) {
      sum += 2 * (2 / Math.PI) * Math.asin(1 - (days[later] - days[earlier]) / horizonDays);
    }
  }
  return days.length === 0 ? 0 : days.length ** 2 / sum;
}

export function countEffective(forecasts: readonly { day: Day }[], horizonDays: number): number {
  return computeEffectiveCount(
    forecasts.map(({ day }) => day),
    horizonDays,
  );
}

/** @throws OracleError INPUT_INVALID unless `day` is after `before` */
export function requireAscending(before: Day, day: Day): void {
  if (day > before) return;
  throw new OracleError('INPUT_INVALID', `${formatDay(day)} does not come after ${formatDay(before)}`, { field: 'day' });
}

/** Bits of a number whose integers are all exact. */
const EXACT_BITS = 53;

/**
 * 95 % intervals of shares of the same days: of the days of `members`, each as 1, those on which a column of `held` is 1 as well. The same
 * as `blockBootstrap` of each column over `members`, with the days resampled once for all.
 */
export function bootstrapShares(held: readonly ArrayLike<number>[], members: ArrayLike<number>): (Interval | null)[] {
  const plan = planResampling(members.length, [members]);
  if (plan === null) return held.map(() => null);
  const [all, ...counts] = resampleFlags([members, ...held], plan);
  return counts.map((sums, index) => {
    const shares = sums.map((count, resample) => count / all[resample]);
    return toInterval(shares, { estimate: sum(held[index]) / sum(members), blocks: plan.blocks, range: SHARE_RANGE });
  });
}

/** Counts of several columns of 0 and 1 are resampled as the digits of one number, in the base of a count that none can reach. */
function resampleFlags(columns: readonly ArrayLike<number>[], plan: Resampling): Float64Array[] {
  const digitBits = Math.floor(Math.log2(plan.days + plan.blockDays)) + 1;
  const digits = Math.floor(EXACT_BITS / digitBits);
  const base = 2 ** digitBits;
  const groups = Array.from({ length: Math.ceil(columns.length / digits) }, (_, index) =>
    columns.slice(index * digits, (index + 1) * digits),
  );
  return groups.flatMap((group) => {
    const packed = resampleColumn(packFlags(group, base), plan);
    return group.map((_, digit) => packed.map((count) => Math.floor(count / base ** digit) % base));
  });
}

function packFlags(columns: readonly ArrayLike<number>[], base: number): Float64Array {
  const packed = new Float64Array(columns[0].length);
  columns.forEach((column, digit) => {
    for (let day = 0; day < packed.length; day++) packed[day] += column[day] * base ** digit;
  });
  return packed;
}

/** A fixed seed, so that recomputing a record gives the same intervals. */
export const BOOTSTRAP_SEED = 20_170_403;
export const RESAMPLES = 2_000;
/** With fewer blocks their variance cannot be estimated. */
export const MIN_BLOCKS = 5;
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

/**
 * Statistics of days in their order, such as a drawdown, which their sums do not have, with intervals as by `blockBootstrap`. `statistics` gets
 * the rows of a path: those of the record, then those of each resample.
 */
export function bootstrapPaths(
  days: number,
  statistics: (rows: Uint32Array) => readonly number[],
  options: Pick<BootstrapOptions, 'blockDays' | 'seed' | 'resamples'> = {},
): IntervalEstimate[] {
  const rows = Uint32Array.from({ length: days }, (_, row) => row);
  const estimates = statistics(rows);
  const plan = planResampling(days, [new Uint8Array(days).fill(1)], options);
  if (plan === null) return estimates.map((value) => ({ value, low: null, high: null }));
  const resampled = estimates.map(() => new Float64Array(plan.resamples));
  for (let resample = 0; resample < plan.resamples; resample++) {
    for (let day = 0; day < days; day++) {
      rows[day] = (plan.starts[Math.floor(day / plan.blockDays)][resample] + (day % plan.blockDays)) % days;
    }
    statistics(rows).forEach((value, index) => {
      resampled[index][resample] = value;
    });
  }
  return estimates.map((value, index) => {
    const interval = toInterval(resampled[index], { estimate: value, blocks: plan.blocks, range: undefined });
    return { value, low: interval?.low ?? null, high: interval?.high ?? null };
  });
}

type Resampling = NonNullable<ReturnType<typeof planResampling>>;

/**
 * How the days of a record are resampled; the variance is estimated of `blocks`. Null where fewer than five blocks have a day on which a
 * column is not 0.
 */
function planResampling(
  days: number,
  columns: readonly ArrayLike<number>[],
  { seed = BOOTSTRAP_SEED, resamples = RESAMPLES, ...options }: Pick<BootstrapOptions, 'blockDays' | 'seed' | 'resamples'> = {},
) {
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

/**
 * Percentiles of the resampled values, widened around the statistic of the full record by Student's t for the normal quantile and the
 * sample variance for the resampling variance. Null where too many of the values are undefined, as dropping them would bias the rest.
 */
function toInterval(
  resampled: Float64Array,
  { estimate, blocks, range }: { estimate: number; blocks: number; range: Interval | undefined },
): Interval | null {
  let undefinedCount = 0;
  for (const value of resampled) if (!Number.isFinite(value)) undefinedCount++;
  if (undefinedCount > MAX_UNDEFINED_SHARE * resampled.length) return null;
  const sorted = (undefinedCount === 0 ? resampled : resampled.filter((value) => !Number.isNaN(value))).sort();
  const [low, high] = [interpolateQuantile(sorted, TAIL_PROBABILITY), interpolateQuantile(sorted, 1 - TAIL_PROBABILITY)];
  const factor = (studentQuantile(blocks - 1) / Z_95) * Math.sqrt(blocks / (blocks - 1));
  const bounds = {
    low: Math.max(estimate - factor * Math.max(0, estimate - low), range?.low ?? Number.NEGATIVE_INFINITY),
    high: Math.min(estimate + factor * Math.max(0, high - estimate), range?.high ?? Number.POSITIVE_INFINITY),
  };
  return Number.isFinite(bounds.low) && Number.isFinite(bounds.high) ? bounds : null;
}

/** Sums of one column by resample, of whole blocks and a shorter last one, `days` days in all. */
function resampleColumn(column: ArrayLike<number>, { days, blockDays, resamples, starts }: Resampling): Float64Array {
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

/** First days of the resampled blocks: block by block, one start a resample. */
type BlockStarts = readonly Uint32Array[];

interface BlockDraw {
  days: number;
  blockDays: number;
  seed: number;
  resamples: number;
}

/** Draws in memory, of 1 MB each: the statistics of one record need two, over all its days and over those with calls. */
const MAX_DRAWS = 2;
const draws: { of: BlockDraw; starts: BlockStarts }[] = [];

/** The same draw for the same numbers: as many blocks as cover the days. */
export function drawBlocks(of: BlockDraw): BlockStarts {
  const index = draws.findIndex((draw) => isSameDraw(draw.of, of));
  const [found] = index === -1 ? [{ of, starts: computeStarts(of) }] : draws.splice(index, 1);
  draws.unshift(found);
  draws.length = Math.min(draws.length, MAX_DRAWS);
  return found.starts;
}

function isSameDraw(a: BlockDraw, b: BlockDraw): boolean {
  return a.days === b.days && a.blockDays === b.blockDays && a.seed === b.seed && a.resamples === b.resamples;
}

function computeStarts({ days, blockDays, seed, resamples }: BlockDraw): BlockStarts {
  const random = createRandom(seed);
  const starts = Array.from({ length: Math.ceil(days / blockDays) }, () => new Uint32Array(resamples));
  for (let resample = 0; resample < resamples; resample++) {
    for (const block of starts) block[resample] = Math.floor(random() * days);
  }
  return starts;
}

/** Reproducible uniform numbers in [0, 1) from a seed (splitmix32); 32 bits, not for secrets. */
export function createRandom(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x9e3779b9) | 0;
    let h = Math.imul(state ^ (state >>> 16), 0x21f0aaad);
    h = Math.imul(h ^ (h >>> 15), 0x735a2d97);
    return ((h ^ (h >>> 15)) >>> 0) / 2 ** 32;
  };
}

/** A mean with its 95 % interval; the bounds are null for a single value, which has no spread. */
export interface MeanInterval {
  n: number;
  mean: number;
  low: number | null;
  high: number | null;
}

/** Mean of independent values with its 95 % interval by Student's t; null without values. */
export function computeMeanInterval(values: readonly number[]): MeanInterval | null {
  const n = values.length;
  if (n === 0) return null;
  const center = mean(values);
  if (n === 1) return { n, mean: center, low: null, high: null };
  const half = studentQuantile(n - 1) * Math.sqrt(variance(values, 1) / n);
  return { n, mean: center, low: center - half, high: center + half };
}

/** 97.5 % quantile of Student's t: exact for 1 and 2 degrees, else Cornish-Fisher (Abramowitz and Stegun 26.7.5), within 0.2 %. */
export function studentQuantile(degrees: number): number {
  if (degrees === 1) return Math.tan(Math.PI * 0.475);
  if (degrees === 2) return 0.95 * Math.sqrt(2 / (1 - 0.95 ** 2));
  const terms = [
    (Z_95 ** 3 + Z_95) / 4,
    (5 * Z_95 ** 5 + 16 * Z_95 ** 3 + 3 * Z_95) / 96,
    (3 * Z_95 ** 7 + 19 * Z_95 ** 5 + 17 * Z_95 ** 3 - 15 * Z_95) / 384,
    (79 * Z_95 ** 9 + 776 * Z_95 ** 7 + 1482 * Z_95 ** 5 - 1920 * Z_95 ** 3 - 945 * Z_95) / 92_160,
  ];
  return terms.reduce((sum, term, index) => sum + term / degrees ** (index + 1), Z_95);
}
