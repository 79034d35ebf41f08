import { type Day, toDay } from '../../../forecast/day.ts';
import { millionsToUsd } from '../../numbers.ts';
import type { Observations } from '../../series/observations.ts';
import type { LatestReading } from '../../series/series-reading.ts';
import { sumBetween } from '../lookback.ts';

/** The day that windows of flows end with: today; or, once the flows are stale, the last one known. */
export function getWindowEnd({ stale, observedDay }: LatestReading, atMs: number): Day {
  return stale && observedDay !== null ? observedDay : toDay(atMs);
}

/** Sum (USD) of the flows of the `days` calendar days that end with `end`; null when none of them has one. */
export function sumFlowsUsd(flows: Observations, end: Day, days: number): number | null {
  return millionsToUsd(sumBetween(flows, end - days + 1, end));
}
