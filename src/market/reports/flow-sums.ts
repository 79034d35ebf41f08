import { type Day, dayOf } from '../../forecast/day.ts';
import type { Observations } from '../observations.ts';
import type { Reading } from '../reading.ts';
import { sumBetween } from './lookback.ts';
import { millionsToUsd } from './numbers.ts';

/** The day that windows of flows end with: today; or, once the flows are stale, the last one known. */
export function windowEnd({ stale, observedDay }: Reading, atMs: number): Day {
  return stale && observedDay !== null ? observedDay : dayOf(atMs);
}

/** Sum (USD) of the flows of the `days` calendar days that end with `end`; null when none of them has one. */
export function flowSumUsd(flows: Observations, end: Day, days: number): number | null {
  return millionsToUsd(sumBetween(flows, end - days + 1, end));
}
