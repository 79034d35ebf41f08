import { studentQuantile } from '../../forecast/math/mean-interval.ts';
import type { Interval } from '../../forecast/scoring.ts';

/** Rounds that a wallet needs to be ranked, and for an interval to mean anything. */
export const MIN_RANKED_ROUNDS = 4;

/**
 * 95 % interval of the mean (Student's t) of `rounds` values with a sample standard deviation; null for fewer than
 * `MIN_RANKED_ROUNDS`. It takes the values for independent and their mean for about normal, which a handful of rounds is not.
 */
export function computeRoundsInterval(mean: number, standardDeviation: number, rounds: number): Interval | null {
  if (rounds < MIN_RANKED_ROUNDS) return null;
  const half = (studentQuantile(rounds - 1) * standardDeviation) / Math.sqrt(rounds);
  return { low: mean - half, high: mean + half };
}
