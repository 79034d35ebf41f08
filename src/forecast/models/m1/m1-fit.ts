import type { WeekdayFactors } from './weekday-factors.ts';

/** Horizons in days at which the model differs from `m0-d1`: at 7 days the last look found no gain. */
export const M1_HORIZONS = [1, 2, 3] as const;
export type M1Horizon = (typeof M1_HORIZONS)[number];

/** One fit: all parameters needed to forecast the days of its block. */
export interface M1Fit {
  horizonDays: M1Horizon;
  weekdayFactors: WeekdayFactors;
  /** 199 quantiles, at .005 to .995, of h-day log returns over the scale from returns, and over the scale from ranges. */
  returnQuantiles: readonly number[];
  rangeQuantiles: readonly number[];
}
