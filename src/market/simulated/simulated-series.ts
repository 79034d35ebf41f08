import type { Day } from '../../forecast/day.ts';
import type { PricePath } from './price-path.ts';
import { createRandomness, type Randomness } from './random.ts';

/** Generator of a series: called once per day in order, it returns the day's value or NaN. It must not read the price path of later days. */
type DayGenerator = (day: Day) => number;

export interface SimulatedSeries {
  /** First date with a value (YYYY-MM-DD), close to that of the real series. */
  from: string;
  start(path: PricePath, seed: number): DayGenerator;
}

/** A series drawn from one random stream. */
export function drawSeries(
  from: string,
  stream: string,
  start: (random: Randomness, path: PricePath, seed: number) => DayGenerator,
): SimulatedSeries {
  return { from, start: (path, seed) => start(createRandomness(seed, stream), path, seed) };
}

export function clamp(value: number, low: number, high: number): number {
  return Math.max(low, Math.min(high, value));
}
