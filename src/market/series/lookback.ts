import type { Day } from '../../forecast/day.ts';
import { mean } from '../../forecast/math/mean.ts';
import { countUpTo, type Observations } from './observations.ts';

/** The last value dated between `day - toleranceDays` and `day`; null without one. */
export function findValueAt({ days, values }: Observations, day: Day, toleranceDays = 0): number | null {
  const index = countUpTo(days, day) - 1;
  return index >= 0 && days[index] >= day - toleranceDays ? values[index] : null;
}

export function sliceValuesBetween({ days, values }: Observations, from: Day, to: Day): Float64Array {
  return values.subarray(countUpTo(days, from - 1), countUpTo(days, to));
}

export function sumBetween(observations: Observations, from: Day, to: Day): number | null {
  const values = sliceValuesBetween(observations, from, to);
  return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0);
}

export function averageBetween(observations: Observations, from: Day, to: Day): number | null {
  const values = sliceValuesBetween(observations, from, to);
  return values.length === 0 ? null : mean(values);
}
