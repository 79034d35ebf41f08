import { type Day, formatDay, toDay } from '../../../forecast/day.ts';
import { millionsToUsd } from '../../numbers.ts';
import { sumBetween } from '../../series/lookback.ts';
import type { Observations } from '../../series/observations.ts';
import type { LatestReading } from '../../series/series-reading.ts';

export const FLOW_DIRECTIONS = ['inflow', 'outflow', 'none'] as const;

/** The last day of flow windows: today, or the last known day once the flows are stale. */
export function getWindowEnd({ stale, observedDay }: LatestReading, atMs: number): Day {
  return stale && observedDay !== null ? observedDay : toDay(atMs);
}

/** Net flow (USD) of the `days` calendar days up to `end`; null without a figure of any of them. */
export function sumFlowsUsd(flows: Observations, end: Day, days: number): number | null {
  return millionsToUsd(sumBetween(flows, end - days + 1, end));
}

/** Consecutive reported days with the same sign of flow, counted back from the last. A flow of zero ends the streak. */
export function computeFlowStreak({ values }: Observations): { direction: (typeof FLOW_DIRECTIONS)[number]; days: number } {
  const sign = Math.sign(values.at(-1) ?? 0);
  if (sign === 0) return { direction: 'none', days: 0 };
  const others = values.findLastIndex((flow) => Math.sign(flow) !== sign);
  return { direction: sign > 0 ? 'inflow' : 'outflow', days: values.length - 1 - others };
}

/** The days with the largest inflow and outflow of the history; null without one. */
export function findBiggestDays({ days, values }: Observations) {
  let highest = -1;
  let lowest = -1;
  values.forEach((flow, index) => {
    if (flow > (values[highest] ?? 0)) highest = index;
    if (flow < (values[lowest] ?? 0)) lowest = index;
  });
  const toFlowDay = (index: number) => (index < 0 ? null : { date: formatDay(days[index]), usd: millionsToUsd(values[index]) });
  return { biggestInflow: toFlowDay(highest), biggestOutflow: toFlowDay(lowest) };
}
