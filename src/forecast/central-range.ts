import { computeScale, type PredictiveDistribution } from './distribution.ts';
import { getCentralIndexes } from './scoring/quantile-grid.ts';

/** Probabilities of the published central ranges. */
export const CENTRAL_SHARES = [0.5, 0.8, 0.9] as const;

/** Half widths of the central ranges of a log return, whole units of 1e-6. */
export interface CentralHalfWidths {
  central50: number;
  central80: number;
  central90: number;
}

/** Units in a log return of 1, as in committed quantiles. */
export const UNITS_PER_LOG_RETURN = 1e6;

/** A distribution without its location. */
type Spread = Pick<PredictiveDistribution, 'scale' | 'residualQuantiles'>;

/**
 * Half the distances between the quantiles that bound the central ranges. P(up) moves all quantiles by the same shift, which no distance
 * contains, so that these are the widths of the distribution with P(up) one half too.
 */
export function computeHalfWidths({ scale, residualQuantiles }: Spread): CentralHalfWidths {
  const [central50, central80, central90] = CENTRAL_SHARES.map((share) => {
    const [below, above] = getCentralIndexes(share);
    return Math.round((UNITS_PER_LOG_RETURN * scale * (residualQuantiles[above] - residualQuantiles[below])) / 2);
  });
  return { central50, central80, central90 };
}

/** Those of a forecast by `m0-d1`, from the daily variances of its day. */
export function computeHalfWidthsFromVariance(
  { v94, v99 }: { v94: number; v99: number },
  { horizonDays, residualQuantiles }: { horizonDays: number; residualQuantiles: readonly number[] },
): CentralHalfWidths {
  return computeHalfWidths({ scale: computeScale(v94, v99, horizonDays), residualQuantiles });
}

/** A range around a price, symmetric in the logarithm. */
export function widenPrice(price: number, halfWidthUnits: number): { low: number; high: number } {
  const factor = Math.exp(halfWidthUnits / UNITS_PER_LOG_RETURN);
  return { low: price / factor, high: price * factor };
}
