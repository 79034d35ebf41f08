import type { Day } from '../../forecast/day.ts';
import type { PricePath } from './price-path.ts';

/** How one series is simulated. */
export interface SimulatedSeries {
  /** First date with a value, YYYY-MM-DD: about where the real series begins. */
  from: string;
  /**
   * A generator that is called once for every day from `from` on, in order, and gives that date's value, or NaN where there is
   * none. It may read the price path up to the day its value could be known and nothing later.
   */
  start(path: PricePath, seed: number): (day: Day) => number;
}

/** Rounds to a number of decimals, as providers do. */
export function roundDecimals(value: number, decimals: number): number {
  const unit = 10 ** decimals;
  return Math.round(value * unit) / unit;
}

export function clamp(value: number, low: number, high: number): number {
  return Math.max(low, Math.min(high, value));
}
