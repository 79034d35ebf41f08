import { fillsBlocks } from '../math/block-bootstrap.ts';
import { selectNonOverlapping } from '../scoring.ts';
import { computeAlwaysUpDifference, isHit } from './call-statistics.ts';
import type { ScoredForecast } from './scored-forecast.ts';

/** Chance of a claim, in either direction, where there is nothing to claim. */
const SIGNIFICANCE = 0.05;

/**
 * 1 where the calls of one horizon, by ascending day, are better than always saying UP, -1 where they are worse, 0 where that cannot
 * be told. Only calls of DOWN differ from always-UP: those whose windows do not overlap are tested, right against wrong, and the
 * difference day by day must agree wherever the record is long enough for its interval. HOLD is no call.
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

/** Exact two-sided binomial test of `right` in `n` trials at one half: the chance of so many more on one side, or yet more. */
export function computeSignTest(right: number, n: number): number {
  const most = Math.max(right, n - right);
  let logChance = -n * Math.LN2;
  let tail = 0;
  // From n successes down; in logarithms, since one half to the power of a long record is no number.
  for (let successes = n; successes >= most; successes--) {
    tail += Math.exp(logChance);
    logChance += Math.log(successes / (n - successes + 1));
  }
  return Math.min(1, 2 * tail);
}

/** In a record that can be resampled, calls of DOWN within fewer than five blocks agree with nothing: they may have had one cause. */
function bootstrapAgrees(calls: readonly ScoredForecast[], sign: 1 | -1): boolean {
  if (!fillsBlocks(calls[calls.length - 1].day - calls[0].day + 1)) return true;
  const { low, high } = computeAlwaysUpDifference(calls);
  if (low === null || high === null) return false;
  return sign === 1 ? low > 0 : high < 0;
}
