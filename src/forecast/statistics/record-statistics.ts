import { computeCallStatistics } from './call-statistics.ts';
import { computeDistributionStatistics } from './distribution-statistics.ts';
import { computeProbabilityStatistics } from './probability-statistics.ts';
import type { ScoredForecast } from './scored-forecast.ts';

export type RecordStatistics = ReturnType<typeof computeRecordStatistics>;

/**
 * Statistics with confidence intervals of one horizon's resolved forecasts, by ascending day. Deterministic: the resampling has a fixed seed.
 * @throws OracleError INPUT_INVALID unless days strictly ascend and probabilities are within 0 to 1
 */
export function computeRecordStatistics(forecasts: readonly ScoredForecast[], horizonDays: number) {
  return {
    calls: computeCallStatistics(forecasts, horizonDays),
    probabilities: computeProbabilityStatistics(forecasts, horizonDays),
    distribution: computeDistributionStatistics(forecasts, horizonDays),
  };
}
