import type { Day } from '../../day.ts';
import { mean } from '../../math/mean.ts';
import { TRAINING_START } from '../../model.ts';

const DECAY = 0.94;
const SEED_DAYS = 60;
/** Of ln(high / low)^2 / (4 ln 2): a range of about 70 % in a day. Above it a venue has a bad tick. */
const MAX_PARKINSON = 0.5;
const PARKINSON_DIVISOR = 4 * Math.LN2;

/** One row a day from `firstDay` on, in USD; `NaN` for a missing high or low. */
export interface DailyRanges {
  firstDay: Day;
  closes: Float64Array;
  highs: Float64Array;
  lows: Float64Array;
}

/** Parkinson's variance of a day's log return from its high and low; null where they give none. */
export function computeParkinson(high: number, low: number): number | null {
  const variance = low > 0 ? Math.log(high / low) ** 2 / PARKINSON_DIVISOR : Number.NaN;
  return high >= low && variance > 0 && variance <= MAX_PARKINSON ? variance : null;
}

/** Daily variance from ranges, or from the squared return of a day without a usable range; `NaN` on the first day. */
export function computeDailyVariance({ closes, highs, lows }: DailyRanges): Float64Array {
  return closes.map(
    (close, row) => computeParkinson(highs[row], lows[row]) ?? (row === 0 ? Number.NaN : Math.log(close / closes[row - 1]) ** 2),
  );
}

/** Exponentially weighted daily variance from `TRAINING_START` on, `NaN` before; seeded by the mean of the 60 days before. */
export function computeRangeVariance(ranges: DailyRanges): Float64Array {
  const daily = computeDailyVariance(ranges);
  const start = Math.max(TRAINING_START - ranges.firstDay, SEED_DAYS + 1);
  const variance = new Float64Array(daily.length).fill(Number.NaN);
  let last = mean(daily.subarray(start - SEED_DAYS, start));
  for (let row = start; row < daily.length; row++) {
    last = DECAY * last + (1 - DECAY) * daily[row];
    variance[row] = last;
  }
  return variance;
}
