import { type PredictiveDistribution, QUANTILE_COUNT, QUANTILE_STEP } from '../distribution.ts';

/** Levels of the grid: .005, .010 ... .995. */
export const QUANTILE_LEVELS: Float64Array = Float64Array.from({ length: QUANTILE_COUNT }, (_, index) => (index + 1) * QUANTILE_STEP);

/** The 199 quantiles of the log return. */
export function toQuantileGrid({ scale, shift, residualQuantiles }: PredictiveDistribution): Float64Array {
  return Float64Array.from(residualQuantiles, (residual) => scale * (residual - shift));
}

/** Indexes of the quantiles that bound the central range of probability `share`, in steps of .01. */
export function getCentralIndexes(share: number): [below: number, above: number] {
  const below = Math.round((1 - share) / 2 / QUANTILE_STEP) - 1;
  return [below, QUANTILE_COUNT - 1 - below];
}
