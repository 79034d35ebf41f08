import { studentQuantile } from '../../forecast/math/mean-interval.ts';
import type { Interval } from '../../forecast/scoring.ts';

export const MIN_RANKED_ROUNDS = 4;

/** 95 % interval (Student's t): assumes independent values with a normal mean, which a few rounds only approximate. */
export function computeRoundsInterval(mean: number, standardDeviation: number, rounds: number): Interval | null {
  if (rounds < MIN_RANKED_ROUNDS) return null;
  const half = (studentQuantile(rounds - 1) * standardDeviation) / Math.sqrt(rounds);
  return { low: mean - half, high: mean + half };
}
