import type { Regime } from '../../regime/regime.ts';
import type { Fold, OutOfSampleDay } from '../out-of-sample.ts';

/**
 * A few days of a fold: its first and last, and the first before whose end of `aheadDays` another regime began and stayed, as only
 * such a day shows a regime that is read ahead. The same rows at every horizon.
 */
export function sampleFoldDays({ days }: Pick<Fold, 'days'>, regimes: readonly Regime[], aheadDays: number): OutOfSampleDay[] {
  const beforeChange = days.find(({ row }) => hasRegimeChangeAfter(row, regimes, aheadDays));
  return [...new Set([days[0], ...(beforeChange === undefined ? [] : [beforeChange]), days[days.length - 1]])];
}

/** Whether the next day has another regime than a row, and so has that `aheadDays` later. */
export function hasRegimeChangeAfter(row: number, regimes: readonly Regime[], aheadDays: number): boolean {
  return [1, aheadDays].every((days) => row + days < regimes.length && regimes[row + days] !== regimes[row]);
}
