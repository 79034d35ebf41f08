import type { Interval } from '../scoring.ts';
import { blockBootstrap, SHARE_RANGE } from './block-bootstrap.ts';
import { effectiveCount } from './effective-count.ts';
import { dailyColumn, type ScoredForecast } from './scored-forecast.ts';
import { shareInterval } from './share-interval.ts';

/** A share of calls that were right. */
export interface HitShare {
  n: number;
  hits: number;
  /** hits / n; null without any. */
  accuracy: number | null;
}

/** One of the `horizonDays` ways to keep every h-th day, so that no two windows overlap. */
export interface OffsetShare extends HitShare {
  /** Days after the first call of the record, 0 to h - 1. */
  offsetDays: number;
}

/** A difference with its 95 % interval by the block bootstrap; the bounds are null where that has none. */
export interface Difference {
  value: number;
  low: number | null;
  high: number | null;
}

/** How often the calls were right, and what that is worth. Shares 0 to 1, intervals 95 %. */
export interface CallStatistics extends HitShare {
  /** How many independent calls these are worth. */
  effectiveN: number;
  /** The interval of the accuracy that is told first, by `shareInterval`; null without calls. */
  wilson95: Interval | null;
  /** Another way to it, by the circular block bootstrap over days; null where the calls fill fewer than five blocks. */
  bootstrap95: Interval | null;
  offsets: OffsetShare[];
  /** What always saying UP would have scored on the same days, and the accuracy minus that; null without calls. */
  alwaysUp: { accuracy: number; difference: Difference } | null;
}

/** Statistics of the calls of one horizon, by ascending day; HOLD is no call. */
export function callStatistics(forecasts: readonly ScoredForecast[], horizonDays: number): CallStatistics {
  const calls = forecasts.filter(({ call }) => call !== null);
  const share = hitShare(calls);
  const effectiveN = effectiveCount(
    calls.map(({ day }) => day),
    horizonDays,
  );
  const { accuracy } = share;
  return {
    ...share,
    effectiveN,
    wilson95: accuracy === null ? null : shareInterval(accuracy, effectiveN),
    bootstrap95: resampledInterval(calls),
    offsets: offsetShares(calls, horizonDays),
    alwaysUp: accuracy === null ? null : againstAlwaysUp(calls),
  };
}

/** Share of calls that were right. */
export function hitShare(calls: readonly ScoredForecast[]): HitShare {
  const hits = calls.filter(isHit).length;
  return { n: calls.length, hits, accuracy: calls.length === 0 ? null : hits / calls.length };
}

export function isHit({ call, rose }: ScoredForecast): boolean {
  return (call === 'UP') === rose;
}

function resampledInterval(calls: readonly ScoredForecast[]): Interval | null {
  const hits = dailyColumn(calls, (one) => (isHit(one) ? 1 : 0));
  return blockBootstrap({
    columns: [hits, dailyColumn(calls, () => 1)],
    statistic: ([right, all]) => right / all,
    range: SHARE_RANGE,
  });
}

function offsetShares(calls: readonly ScoredForecast[], horizonDays: number): OffsetShare[] {
  if (calls.length === 0) return [];
  const first = calls[0].day;
  return Array.from({ length: horizonDays }, (_, offsetDays) => ({
    offsetDays,
    ...hitShare(calls.filter(({ day }) => (day - first) % horizonDays === offsetDays)),
  }));
}

function againstAlwaysUp(calls: readonly ScoredForecast[]): CallStatistics['alwaysUp'] {
  return { accuracy: calls.filter(({ rose }) => rose).length / calls.length, difference: alwaysUpDifference(calls) };
}

const DIFFERENCE_RANGE: Interval = { low: -1, high: 1 };

/**
 * How much oftener the calls were right than always saying UP, day by day in pairs. At least one call is expected. The bounds are null
 * where the calls of DOWN, which alone make a difference, fill fewer than five blocks.
 */
export function alwaysUpDifference(calls: readonly ScoredForecast[]): Difference {
  const gain = (one: ScoredForecast) => (isHit(one) ? 1 : 0) - (one.rose ? 1 : 0);
  const gains = dailyColumn(calls, gain);
  const columns = [gains, dailyColumn(calls, () => 1)];
  const interval = blockBootstrap({ columns, statistic: ([sum, all]) => sum / all, bearing: gains, range: DIFFERENCE_RANGE });
  const value = calls.reduce((sum, one) => sum + gain(one), 0) / calls.length;
  return { value, low: interval?.low ?? null, high: interval?.high ?? null };
}
