import { OracleError } from '../../../platform/errors.ts';
import { type Day, formatDay } from '../../day.ts';
import { type ComputedFeatures, computeFeatures } from '../../features/compute-features.ts';
import { FEATURE_NAMES, type FeatureName, type FeatureTable } from '../../features/feature-table.ts';
import { getFrameLength, getLastDay, type InputFrame } from '../../input-frame.ts';

/** Of the last row of a forecast's frame, they hold the day so far. */
const WHOLE_DAY_COLUMNS = ['close', 'high', 'low'] as const;

/** The frame that a past day's forecast could read; ends with that day. */
export type PointInTimeFrame = { day: Day; frame: InputFrame };
export type KnownFeatures = { day: Day; values: Record<FeatureName, number> };

/** A feature whose value known at the time differs from that of the history; null where masked. */
export interface FeatureDifference {
  day: string;
  feature: FeatureName;
  known: number | null;
  computed: number | null;
}

/**
 * The features of each day from the data known on it, with its evening price and range replaced by those of the whole day, as in the history.
 * @throws OracleError INPUT_INVALID for a frame that does not end with its day, or a day missing from the history
 */
export function computeKnownFeatures(history: InputFrame, pointInTime: readonly PointInTimeFrame[]): KnownFeatures[] {
  // What two days knew alike is computed once.
  let earlier: ComputedFeatures | undefined;
  return pointInTime.map(({ day, frame }) => {
    const last = getFrameLength(frame) - 1;
    const row = requireAuditRow(history, day, getLastDay(frame));
    const known = {
      ...frame,
      ...Object.fromEntries(WHOLE_DAY_COLUMNS.map((column) => [column, frame[column].with(last, history[column][row])])),
    };
    const table = computeFeatures(known, earlier);
    earlier = { frame: known, table };
    return { day, values: Object.fromEntries(FEATURE_NAMES.map((name) => [name, table[name][last]])) as Record<FeatureName, number> };
  });
}

function requireAuditRow(frame: InputFrame, day: Day, lastDay: Day): number {
  const row = day - frame.firstDay;
  if (day === lastDay && frame.close[row] !== undefined) return row;
  const message = `${formatDay(day)} cannot be audited by a frame that ends on ${formatDay(lastDay)}`;
  throw new OracleError('INPUT_INVALID', message, { field: 'pointInTime' });
}

/** Differences between the table of the whole history and the known features: a revised input or a lookahead. */
export function findFeatureDifferences(table: FeatureTable, known: readonly KnownFeatures[]): FeatureDifference[] {
  return known.flatMap(({ day, values }) => {
    const row = day - table.firstDay;
    return FEATURE_NAMES.filter((name) => !isSameNumber(values[name], table[name][row])).map((feature) => {
      return { day: formatDay(day), feature, known: toFiniteOrNull(values[feature]), computed: toFiniteOrNull(table[feature][row]) };
    });
  });
}

function isSameNumber(a: number, b: number): boolean {
  return a === b || (Number.isNaN(a) && Number.isNaN(b));
}

function toFiniteOrNull(value: number | undefined): number | null {
  return value === undefined || !Number.isFinite(value) ? null : value;
}
