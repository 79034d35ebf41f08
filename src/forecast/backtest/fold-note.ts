import { formatDay } from '../day.ts';
import type { FeatureTable } from '../features.ts';
import { EXPECTED_FOLDS } from './out-of-sample.ts';

/** Says how many folds there are where there are fewer than the whole history gives; null otherwise. */
export function foldNote(folds: number, { firstDay, length }: Pick<FeatureTable, 'firstDay' | 'length'>): string | null {
  if (folds >= EXPECTED_FOLDS) return null;
  return `${folds} of ${EXPECTED_FOLDS} folds: the history runs from ${formatDay(firstDay)} to ${formatDay(firstDay + length - 1)}`;
}
