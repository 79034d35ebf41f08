import { BUSINESS_DAY_COLUMNS, type BusinessDaySeries, DAILY_COLUMNS, getFrameLength, type InputFrame } from '../input-frame.ts';

/** First row whose features can differ between two frames; the number of common rows without a difference, 0 for unequal first days. */
export function findFirstChangedRow(frame: InputFrame, earlier: InputFrame): number {
  if (frame.firstDay !== earlier.firstDay) return 0;
  let row = Math.min(getFrameLength(frame), getFrameLength(earlier));
  for (const column of DAILY_COLUMNS) row = findFirstDifference(frame[column], earlier[column], row);
  for (const column of BUSINESS_DAY_COLUMNS) {
    const changed = findFirstChangedDay(frame[column], earlier[column]);
    // An observation is read from the day after its date.
    if (changed !== undefined) row = Math.min(row, Math.max(0, changed + 1 - frame.firstDay));
  }
  return row;
}

function findFirstDifference(a: Float64Array, b: Float64Array, limit: number): number {
  for (let index = 0; index < limit; index++) {
    if (a[index] !== b[index] && !(Number.isNaN(a[index]) && Number.isNaN(b[index]))) return index;
  }
  return limit;
}

function findFirstChangedDay(a: BusinessDaySeries, b: BusinessDaySeries): number | undefined {
  const common = Math.min(a.days.length, b.days.length);
  for (let index = 0; index < common; index++) {
    if (a.days[index] !== b.days[index] || a.values[index] !== b.values[index]) return Math.min(a.days[index], b.days[index]);
  }
  if (a.days.length === b.days.length) return undefined;
  return (a.days.length > common ? a : b).days[common];
}
