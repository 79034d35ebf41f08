import { formatDay } from '../day.ts';
import type { FeatureTable } from '../features/feature-table.ts';
import { MIN_HISTORY_DAYS } from '../input-frame.ts';
import { EXPECTED_FOLDS } from './out-of-sample.ts';

/** Says how many folds there are, and what the history gives them, where there are fewer than the whole history gives; null otherwise. */
export function formatFoldNote(folds: number, { firstDay, length }: Pick<FeatureTable, 'firstDay' | 'length'>): string | null {
  if (folds >= EXPECTED_FOLDS) return null;
  const span = `${formatDay(firstDay)} to ${formatDay(firstDay + length - 1)}`;
  return `${folds} of ${EXPECTED_FOLDS} folds: the history runs from ${span} (scores begin on its day ${MIN_HISTORY_DAYS})`;
}
