import { type CallStatistics, computeCallStatistics } from './call-statistics.ts';
import { computeDistributionStatistics, type DistributionStatistics } from './distribution-statistics.ts';
import { computeProbabilityStatistics, type ProbabilityStatistics } from './probability-statistics.ts';
import type { ScoredForecast } from './scored-forecast.ts';

/** What a record of one horizon amounts to, with error bars: its calls, its probabilities, its distributions. */
export interface RecordStatistics {
  calls: CallStatistics;
  /** Null before the first outcome. */
  probabilities: ProbabilityStatistics | null;
  /** Null where no distribution is known. */
  distribution: DistributionStatistics | null;
}

/**
 * Statistics of forecasts of one horizon whose windows are over, by ascending day. From the same forecasts everybody gets the same
 * figures: the resampling has a fixed seed.
 * @throws OracleError INPUT_INVALID unless days strictly ascend and probabilities are such.
 */
export function computeRecordStatistics(forecasts: readonly ScoredForecast[], horizonDays: number): RecordStatistics {
  return {
    calls: computeCallStatistics(forecasts, horizonDays),
    probabilities: computeProbabilityStatistics(forecasts, horizonDays),
    distribution: computeDistributionStatistics(forecasts, horizonDays),
  };
}
