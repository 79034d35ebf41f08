import type { InputFrame } from '../input-frame.ts';
import { mean } from '../math/mean.ts';
import { TRAINING_START } from '../model.ts';
import type { FeatureTable } from './feature-table.ts';

const DECAY = 0.94;
const SEED_DAYS = 60;
/** Of ln(high / low)^2 / (4 ln 2): a range of about 70 % in a day. Above it a venue has a bad tick. */
const MAX_PARKINSON = 0.5;
const PARKINSON_DIVISOR = 4 * Math.LN2;

/** Parkinson's variance of a day's log return from its high and low; null where they give none. */
export function computeParkinson(high: number, low: number): number | null {
  const variance = low > 0 ? Math.log(high / low) ** 2 / PARKINSON_DIVISOR : Number.NaN;
  return high >= low && variance > 0 && variance <= MAX_PARKINSON ? variance : null;
}

/** Variance of a row's log return from its range, or its square without a usable range; `NaN` on the first row then. */
export function computeDailyVariance({ close, high, low }: Pick<InputFrame, 'close' | 'high' | 'low'>, row: number): number {
  return computeParkinson(high[row], low[row]) ?? (row === 0 ? Number.NaN : Math.log(close[row] / close[row - 1]) ** 2);
}

/** `rangeVariance`: exponentially weighted from `TRAINING_START` on, seeded by the mean of the 60 days before; `NaN` until then. */
export function fillRangeVariance(frame: InputFrame, { rangeVariance }: FeatureTable, from: number): void {
  const start = Math.max(TRAINING_START - frame.firstDay, SEED_DAYS + 1);
  rangeVariance.fill(Number.NaN, from, Math.max(from, Math.min(start, rangeVariance.length)));
  for (let row = Math.max(from, start); row < rangeVariance.length; row++) {
    const before = row === start ? computeSeed(frame, start) : rangeVariance[row - 1];
    rangeVariance[row] = DECAY * before + (1 - DECAY) * computeDailyVariance(frame, row);
  }
}

function computeSeed(frame: InputFrame, start: number): number {
  return mean(Array.from({ length: SEED_DAYS }, (_, index) => computeDailyVariance(frame, start - SEED_DAYS + index)));
}
