import type { Day } from '../../forecast/day.ts';

/**
 * A series in columns of equal length, one entry an observation. `days` ascend without duplicates; `availableAt` (ms: when it
 * was first known) never decreases. The arrays are never written to after they were handed out.
 */
export interface Observations {
  /** Where the series comes from, for people. */
  source: string;
  days: Int32Array;
  values: Float64Array;
  availableAt: Float64Array;
}

/** How many leading entries of an ascending array are at most `limit`. */
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

/** Index of the last observation dated `lastDay` or earlier and known at `knownAtMs`; -1 when there is none. */
export function findLastKnownIndex(observations: Observations, lastDay: Day, knownAtMs: number): number {
  const dated = countUpTo(observations.days, lastDay);
  return countUpTo(observations.availableAt, knownAtMs, dated) - 1;
}

/** Views of the entries from `start` up to, not including, `end`. */
export function sliceObservations(observations: Observations, start: number, end: number): Observations {
  const { source, days, values, availableAt } = observations;
  return {
    source,
    days: days.subarray(start, end),
    values: values.subarray(start, end),
    availableAt: availableAt.subarray(start, end),
  };
}

/** What of a series was known at an instant, as views. */
export function sliceKnownAt(observations: Observations, atMs: number): Observations {
  return sliceObservations(observations, 0, countUpTo(observations.availableAt, atMs));
}
