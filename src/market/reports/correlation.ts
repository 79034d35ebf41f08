import type { Day } from '../../forecast/day.ts';
import { mean } from '../../forecast/math/mean.ts';
import { findValueAt } from '../series/lookback.ts';
import { countUpTo, type Observations } from '../series/observations.ts';

export interface Correlation {
  /** Pearson coefficient; null with too few pairs or zero variance. */
  correlation: number | null;
  pairs: number;
}

interface CorrelationOptions {
  minPairs: number;
  /** Log changes of the series; otherwise differences. */
  logarithmic: boolean;
}

/** Pearson correlation of a series' changes since `since` with the log returns of `prices` between the same dates. */
export function correlateReturns(series: Observations, prices: Observations, since: Day, options: CorrelationOptions): Correlation {
  const changes: number[] = [];
  const returns: number[] = [];
  for (let i = Math.max(1, countUpTo(series.days, since - 1)); i < series.days.length; i++) {
    const before = findValueAt(prices, series.days[i - 1]);
    const after = findValueAt(prices, series.days[i]);
    if (before === null || after === null) continue;
    const [from, to] = [series.values[i - 1], series.values[i]];
    changes.push(options.logarithmic ? Math.log(to / from) : to - from);
    returns.push(Math.log(after / before));
  }
  return correlate(changes, returns, options.minPairs);
}

export function correlate(x: number[], y: number[], minPairs: number): Correlation {
  return { correlation: x.length < minPairs ? null : computePearson(x, y), pairs: x.length };
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
