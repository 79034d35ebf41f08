import { type Day, formatDay } from '../../../forecast/day.ts';
import { millionsToUsd } from '../../numbers.ts';
import type { Observations } from '../../series/observations.ts';

export const FLOW_DIRECTIONS = ['inflow', 'outflow', 'none'] as const;

export interface FlowStreak {
  direction: (typeof FLOW_DIRECTIONS)[number];
  /** Days with a figure in a row, the last one included. */
  days: number;
}

export interface FlowDay {
  date: string;
  usd: number;
}

/** How many days in a row money has flowed the same way. A day without any flow ends a streak. */
export function computeFlowStreak({ values }: Observations): FlowStreak {
  const sign = Math.sign(values.at(-1) ?? 0);
  if (sign === 0) return { direction: 'none', days: 0 };
  const others = values.findLastIndex((flow) => Math.sign(flow) !== sign);
  return { direction: sign > 0 ? 'inflow' : 'outflow', days: values.length - 1 - others };
}

/** The days with the largest in- and outflow ever; null where there was none. */
export function findBiggestDays({ days, values }: Observations): { biggestInflow: FlowDay | null; biggestOutflow: FlowDay | null } {
  let most = -1;
  let least = -1;
  values.forEach((flow, index) => {
    if (flow > (values[most] ?? 0)) most = index;
    if (flow < (values[least] ?? 0)) least = index;
  });
  return { biggestInflow: toFlowDay(days[most], values[most]), biggestOutflow: toFlowDay(days[least], values[least]) };
}

function toFlowDay(day: Day | undefined, millions: number | undefined): FlowDay | null {
  return day === undefined || millions === undefined ? null : { date: formatDay(day), usd: millionsToUsd(millions) };
}
