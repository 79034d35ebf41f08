import type { Day } from '../../forecast/day.ts';

/**
 * A time series as columns of equal length. `days` are strictly ascending; `availableAt` (ms, when the value became known) never
 * decreases. The arrays are immutable once returned.
 */
export interface Observations {
  source: string;
  days: Int32Array;
  values: Float64Array;
  availableAt: Float64Array;
}

/** Binary search: the number of leading entries of an ascending array that are at most `limit`. */
export function countUpTo(ascending: Int32Array | Float64Array, limit: number, length: number = ascending.length): number {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (ascending[middle] <= limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Index of the last observation dated `lastDay` or earlier and known at `knownAtMs`; -1 without one. */
export function findLastKnownIndex({ days, availableAt }: Observations, lastDay: Day, knownAtMs: number): number {
  return countUpTo(availableAt, knownAtMs, countUpTo(days, lastDay)) - 1;
}

export function sliceKnownAt({ source, days, values, availableAt }: Observations, atMs: number): Observations {
  const end = countUpTo(availableAt, atMs);
  return { source, days: days.subarray(0, end), values: values.subarray(0, end), availableAt: availableAt.subarray(0, end) };
}
