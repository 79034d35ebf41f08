import type { Day } from '../../forecast/day.ts';
import { countUpTo, type Observations } from '../series/observations.ts';

export interface Correlation {
  /** Pearson's; null with too few pairs or where one side never moves. */
  correlation: number | null;
  /** How many pairs it is made of. */
  pairs: number;
}

export interface CorrelationOptions {
  minPairs: number;
  /** Logarithmic changes of the series; otherwise plain differences. */
  logarithmic: boolean;
}

/**
 * Pearson correlation of a series' changes from one observation to the next with the log returns of `prices` between the same
 * dates, over the observations dated `since` or later.
 */
export function correlateReturns(series: Observations, prices: Observations, since: Day, options: CorrelationOptions): Correlation {
  const ours: number[] = [];
  const theirs: number[] = [];
  const first = Math.max(1, countUpTo(series.days, since - 1));
  for (let i = first; i < series.days.length; i++) {
    const before = findPrice(prices, series.days[i - 1]);
    const after = findPrice(prices, series.days[i]);
    if (before === null || after === null) continue;
    const [from, to] = [series.values[i - 1], series.values[i]];
    ours.push(options.logarithmic ? Math.log(to / from) : to - from);
    theirs.push(Math.log(after / before));
  }
  return correlate(ours, theirs, options.minPairs);
}

/** Correlation of two lists of equal length. */
export function correlate(x: number[], y: number[], minPairs: number): Correlation {
  return { correlation: x.length < minPairs ? null : computePearson(x, y), pairs: x.length };
}

/** The price of exactly that day; null without one. */
export function findPrice({ days, values }: Observations, day: Day): number | null {
  const index = countUpTo(days, day) - 1;
  return index >= 0 && days[index] === day ? values[index] : null;
}

function computePearson(x: number[], y: number[]): number | null {
  const meanX = mean(x);
  const meanY = mean(y);
  let covariance = 0;
  let varianceX = 0;
  let varianceY = 0;
  for (let i = 0; i < x.length; i++) {
    covariance += (x[i] - meanX) * (y[i] - meanY);
    varianceX += (x[i] - meanX) ** 2;
    varianceY += (y[i] - meanY) ** 2;
  }
  const scale = Math.sqrt(varianceX * varianceY);
  return scale > 0 ? Math.max(-1, Math.min(1, covariance / scale)) : null;
}

function mean(values: number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
