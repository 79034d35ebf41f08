import { fillsBlocks } from '../math/block-bootstrap.ts';
import { selectNonOverlapping } from '../scoring.ts';
import { computeAlwaysUpDifference, isHit } from './call-statistics.ts';
import type { ScoredForecast } from './scored-forecast.ts';

/** Two-sided type I error rate. */
const SIGNIFICANCE = 0.05;

/**
 * 1 where one horizon's calls, by ascending day, beat always calling UP, -1 where they lose to it, 0 where neither is significant. A sign
 * test of the non-overlapping DOWN calls decides; in a record long enough, the bootstrap of the daily difference must agree.
 * @throws OracleError INPUT_INVALID unless days strictly ascend
 */
export function testAdvantageOverAlwaysUp(forecasts: readonly ScoredForecast[], horizonDays: number): -1 | 0 | 1 {
  const calls = forecasts.filter(({ call }) => call !== null);
  const downs = selectNonOverlapping(
    calls.filter(({ call }) => call === 'DOWN'),
    horizonDays,
  );
  const right = downs.filter(isHit).length;
  if (computeSignTest(right, downs.length) >= SIGNIFICANCE) return 0;
  const sign = 2 * right > downs.length ? 1 : -1;
  return bootstrapAgrees(calls, sign) ? sign : 0;
}

/** Exact two-sided binomial test of `right` in `n` trials at one half: its p-value. */
export function computeSignTest(right: number, n: number): number {
  const most = Math.max(right, n - right);
  // In logarithms, since 2 ** -n underflows for a long record.
  let logChance = -n * Math.LN2;
  let tail = 0;
  for (let successes = n; successes >= most; successes--) {
    tail += Math.exp(logChance);
    logChance += Math.log(successes / (n - successes + 1));
  }
  return Math.min(1, 2 * tail);
}

/** In a record long enough to resample, DOWN calls within fewer than five blocks do not agree: they may share one cause. */
function bootstrapAgrees(calls: readonly ScoredForecast[], sign: 1 | -1): boolean {
  if (!fillsBlocks(calls[calls.length - 1].day - calls[0].day + 1)) return true;
  const { low, high } = computeAlwaysUpDifference(calls);
  if (low === null || high === null) return false;
  return sign === 1 ? low > 0 : high < 0;
}
