import { blockBootstrap, SHARE_RANGE } from '../math/block-bootstrap.ts';
import { computeEffectiveCount } from '../math/effective-count.ts';
import { computeShareInterval } from '../math/share-interval.ts';
import type { Interval } from '../scoring.ts';
import { type ScoredForecast, toDailyColumn } from './scored-forecast.ts';

/** A share of calls that were right. */
export interface HitRate {
  n: number;
  hits: number;
  /** hits / n; null without any. */
  accuracy: number | null;
}

/** One of the `horizonDays` ways to keep every h-th day, so that no two windows overlap. */
export interface OffsetHitRate extends HitRate {
  /** Days after the first call of the record, 0 to h - 1. */
  offsetDays: number;
}

/** A difference with its 95 % interval by the block bootstrap; the bounds are null where that has none. */
export interface IntervalEstimate {
  value: number;
  low: number | null;
  high: number | null;
}

/** How often the calls were right, and what that is worth. Shares 0 to 1, intervals 95 %. */
export interface CallStatistics extends HitRate {
  /** How many independent calls these are worth. */
  effectiveN: number;
  /** The interval of the accuracy that is told first, by `shareInterval`; null without calls. */
  wilson95: Interval | null;
  /** Another way to it, by the circular block bootstrap over days; null where the calls fill fewer than five blocks. */
  bootstrap95: Interval | null;
  offsets: OffsetHitRate[];
  /** What always saying UP would have scored on the same days, and the accuracy minus that; null without calls. */
  alwaysUp: { accuracy: number; difference: IntervalEstimate } | null;
}

/** Statistics of the calls of one horizon, by ascending day; HOLD is no call. */
export function computeCallStatistics(forecasts: readonly ScoredForecast[], horizonDays: number): CallStatistics {
  const calls = forecasts.filter(({ call }) => call !== null);
  const share = computeHitRate(calls);
  const effectiveN = computeEffectiveCount(
    calls.map(({ day }) => day),
    horizonDays,
  );
  const { accuracy } = share;
  return {
    ...share,
    effectiveN,
    wilson95: accuracy === null ? null : computeShareInterval(accuracy, effectiveN),
    bootstrap95: bootstrapHitRate(calls),
    offsets: computeOffsetHitRates(calls, horizonDays),
    alwaysUp: accuracy === null ? null : compareWithAlwaysUp(calls),
  };
}

/** Share of calls that were right. */
export function computeHitRate(calls: readonly ScoredForecast[]): HitRate {
  const hits = calls.filter(isHit).length;
  return { n: calls.length, hits, accuracy: calls.length === 0 ? null : hits / calls.length };
}

export function isHit({ call, rose }: ScoredForecast): boolean {
  return (call === 'UP') === rose;
}

function bootstrapHitRate(calls: readonly ScoredForecast[]): Interval | null {
  const hits = toDailyColumn(calls, (one) => (isHit(one) ? 1 : 0));
  return blockBootstrap({
    columns: [hits, toDailyColumn(calls, () => 1)],
    statistic: ([right, all]) => right / all,
    range: SHARE_RANGE,
  });
}

function computeOffsetHitRates(calls: readonly ScoredForecast[], horizonDays: number): OffsetHitRate[] {
  if (calls.length === 0) return [];
  const first = calls[0].day;
  return Array.from({ length: horizonDays }, (_, offsetDays) => ({
    offsetDays,
    ...computeHitRate(calls.filter(({ day }) => (day - first) % horizonDays === offsetDays)),
  }));
}

function compareWithAlwaysUp(calls: readonly ScoredForecast[]): CallStatistics['alwaysUp'] {
  return { accuracy: calls.filter(({ rose }) => rose).length / calls.length, difference: computeAlwaysUpDifference(calls) };
}

const DIFFERENCE_RANGE: Interval = { low: -1, high: 1 };

/**
 * How much oftener the calls were right than always saying UP, day by day in pairs. At least one call is expected. The bounds are null
 * where the calls of DOWN, which alone make a difference, fill fewer than five blocks.
 */
export function computeAlwaysUpDifference(calls: readonly ScoredForecast[]): IntervalEstimate {
  const gain = (one: ScoredForecast) => (isHit(one) ? 1 : 0) - (one.rose ? 1 : 0);
  const gains = toDailyColumn(calls, gain);
  const columns = [gains, toDailyColumn(calls, () => 1)];
  const interval = blockBootstrap({ columns, statistic: ([sum, all]) => sum / all, informative: gains, range: DIFFERENCE_RANGE });
  const value = calls.reduce((sum, one) => sum + gain(one), 0) / calls.length;
  return { value, low: interval?.low ?? null, high: interval?.high ?? null };
}
