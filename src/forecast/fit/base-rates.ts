import type { Day } from '../day.ts';
import { getOrInsert } from '../get-or-insert.ts';
import { MIN_HISTORY_DAYS } from '../input-frame.ts';
import { getBlockIndex, getTrainingEnd, type HorizonDays, TRAINING_START } from '../model.ts';
import { computeBaseRate } from './coefficients.ts';

/** One close per day. */
export interface DailyCloses {
  firstDay: Day;
  /** USD; NaN for a missing close. */
  closes: Float64Array;
}

/** Base rate of UP on a day; null where the closes do not cover the training days. */
export type BaseRates = (day: Day, horizonDays: number) => number | null;

/** Computes base rates from closes: the shrunk share of rises among the training days of the day's block. */
export function createBaseRates(history: DailyCloses | null): BaseRates {
  const known = new Map<string, number | null>();
  return (day, horizonDays) => {
    if (history === null) return null;
    const block = getBlockIndex(day);
    return getOrInsert(known, `${block}:${horizonDays}`, () => computeBaseRateFromCloses(history, block, horizonDays as HorizonDays));
  };
}

function computeBaseRateFromCloses({ firstDay, closes }: DailyCloses, block: number, horizonDays: HorizonDays): number | null {
  const from = Math.max(TRAINING_START - firstDay, MIN_HISTORY_DAYS - 1);
  const to = getTrainingEnd(block, horizonDays) - firstDay;
  const read = closes.subarray(from, to + horizonDays);
  if (to <= from || read.length < to + horizonDays - from || read.some(Number.isNaN)) return null;
  const labels = Float64Array.from({ length: to }, (_, row) => (row >= from && closes[row + horizonDays] > closes[row] ? 1 : 0));
  return computeBaseRate({ labels, weights: new Float64Array(to).fill(1 / horizonDays), from, to });
}
