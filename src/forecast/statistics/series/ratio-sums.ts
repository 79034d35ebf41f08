import type { Day } from '../../day.ts';
import { chooseBlockDays } from '../../math/block-bootstrap.ts';
import { studentQuantile } from '../../math/mean-interval.ts';
import type { Interval } from '../../scoring.ts';

/** A day's part of a ratio of sums. */
export interface RatioPart {
  day: Day;
  numerator: number;
  denominator: number;
}

export interface RatioEstimate {
  /** Null where the denominators sum to 0. */
  value: number | null;
  /** Null with fewer than five blocks of days. */
  low: number | null;
  high: number | null;
}

/** Sums up to each day from the first on; entry `i` covers the days before `firstDay + i`. */
export interface RatioSums {
  firstDay: Day;
  numerators: Float64Array;
  denominators: Float64Array;
}

/** With fewer blocks their variance cannot be estimated. */
const MIN_BLOCKS = 5;

/** @param parts by ascending day */
export function sumRatioParts(parts: readonly RatioPart[]): RatioSums {
  const firstDay = parts[0]?.day ?? 0;
  const days = parts.length === 0 ? 0 : parts.at(-1)!.day - firstDay + 1;
  const [numerators, denominators] = [new Float64Array(days + 1), new Float64Array(days + 1)];
  let next = 0;
  for (let day = 0; day < days; day++) {
    const part = parts[next]?.day === firstDay + day ? parts[next++]! : { numerator: 0, denominator: 0 };
    numerators[day + 1] = numerators[day] + part.numerator;
    denominators[day + 1] = denominators[day] + part.denominator;
  }
  return { firstDay, numerators, denominators };
}

/**
 * Ratio of the sums over the days from `from` to `through`, with its 95 % interval by Student's t over blocks of consecutive days (ratio
 * estimator, Cochran 1977, 6.3), which keep the dependence of overlapping windows; cheap enough for every day of a series.
 */
export function estimateRatio(sums: RatioSums, { from, through }: { from: Day; through: Day }, range: Interval): RatioEstimate {
  const clamp = (day: Day) => Math.min(sums.numerators.length - 1, Math.max(0, day - sums.firstDay));
  const [start, end] = [clamp(from), clamp(through + 1)];
  const denominator = sums.denominators[end] - sums.denominators[start];
  if (!(denominator > 0)) return { value: null, low: null, high: null };
  const value = (sums.numerators[end] - sums.numerators[start]) / denominator;
  const blockDays = chooseBlockDays(end - start);
  let [blocks, squares] = [0, 0];
  for (let at = start; at < end; at += blockDays) {
    const to = Math.min(end, at + blockDays);
    const own = sums.denominators[to] - sums.denominators[at];
    if (own === 0) continue;
    blocks++;
    squares += (sums.numerators[to] - sums.numerators[at] - value * own) ** 2;
  }
  if (blocks < MIN_BLOCKS) return { value, low: null, high: null };
  const half = (studentQuantile(blocks - 1) * Math.sqrt((squares * blocks) / (blocks - 1))) / denominator;
  return { value, low: Math.max(range.low, value - half), high: Math.min(range.high, value + half) };
}
