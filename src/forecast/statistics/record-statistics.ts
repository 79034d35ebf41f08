import { type CallStatistics, computeCallStatistics } from './call-statistics.ts';
import { computeDistributionStatistics, type DistributionStatistics } from './distribution-statistics.ts';
import { computeProbabilityStatistics, type ProbabilityStatistics } from './probability-statistics.ts';
import type { ScoredForecast } from './scored-forecast.ts';

/** Statistics with confidence intervals of one horizon's calls, probabilities and distributions. */
export interface RecordStatistics {
  calls: CallStatistics;
  /** Null before the first outcome. */
  probabilities: ProbabilityStatistics | null;
  /** Null where no distribution is known. */
  distribution: DistributionStatistics | null;
}

/**
 * Statistics of one horizon's resolved forecasts, by ascending day. Deterministic: the resampling has a fixed seed.
 * @throws OracleError INPUT_INVALID unless days strictly ascend and probabilities are within 0 to 1
 */
export function computeRecordStatistics(forecasts: readonly ScoredForecast[], horizonDays: number): RecordStatistics {
  return {
    calls: computeCallStatistics(forecasts, horizonDays),
    probabilities: computeProbabilityStatistics(forecasts, horizonDays),
    distribution: computeDistributionStatistics(forecasts, horizonDays),
  };
}
