import { type Interval, wilsonInterval } from '../scoring.ts';

/**
 * The 95 % interval that a share of outcomes is told with at every door: Wilson's, on as many trials as the outcomes are worth
 * (`effectiveCount`), since windows that overlap repeat each other. Where the price has no drift it misses
 * the truth at most about once in twenty.
 * @throws OracleError INPUT_INVALID unless `share` is 0 to 1
 */
export function computeShareInterval(share: number, effectiveN: number): Interval {
  return wilsonInterval(share * effectiveN, effectiveN);
}
