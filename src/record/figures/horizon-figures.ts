import type { MeanInterval } from '../../forecast/math/mean-interval.ts';
import { computeRecordStatistics, type RecordStatistics } from '../../forecast/statistics/record-statistics.ts';
import { type RecordSummary, summarizeRecord } from '../../forecast/statistics/record-summary.ts';
import { computeWinRate, type WinRate } from '../../forecast/statistics/win-rate.ts';
import type { ForecastDoc } from '../forecast-doc.ts';
import { toSummaryRow } from '../scorecard/scorecard.ts';
import { buildHorizonRow, groupByModelVersion, groupByRegime, type HorizonRow } from '../statistics/breakdown.ts';
import { computeBrierDifference } from '../statistics/brier-difference.ts';
import { type DistributionSources, scoreForecasts } from '../statistics/score-forecasts.ts';

/** Everything that is computed from all forecasts of a horizon, the same for every caller: of unresolved forecasts only the number counts. */
export interface HorizonFigures {
  summary: RecordSummary;
  winRate: WinRate;
  statistics: RecordStatistics;
  brierDifference: MeanInterval | null;
  row: HorizonRow;
  byRegime: ReturnType<typeof groupByRegime>;
  byModelVersion: ReturnType<typeof groupByModelVersion>;
  /** Those that a replay made. */
  replayed: number;
}

/** @param docs forecasts of one horizon in sequence order */
export async function computeHorizonFigures(
  sources: DistributionSources,
  docs: readonly ForecastDoc[],
  horizonDays: number,
): Promise<HorizonFigures> {
  const rows = docs.map(toSummaryRow);
  return {
    summary: summarizeRecord(rows, horizonDays),
    winRate: computeWinRate(rows, horizonDays),
    statistics: computeRecordStatistics(await scoreForecasts(sources, docs), horizonDays),
    brierDifference: computeBrierDifference(docs, horizonDays),
    row: buildHorizonRow(docs, horizonDays),
    byRegime: groupByRegime(docs, horizonDays),
    byModelVersion: groupByModelVersion(docs, horizonDays),
    replayed: docs.filter(({ replayed }) => replayed).length,
  };
}
