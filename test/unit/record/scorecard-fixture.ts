import { publishRecordSummary, summarizeRecord } from '../../../src/forecast/record-statistics.ts';
import type { ForecastDoc } from '../../../src/record/forecast-doc.ts';
import { buildScorecardPage, toSummaryRow } from '../../../src/record/scorecard.ts';
import type { ViewOptions } from '../../../src/record/visibility.ts';

/** The scorecard of these forecasts, in sequence order. */
export function scorecardOf(docs: readonly ForecastDoc[], horizonDays: number, options: ViewOptions, limit = docs.length) {
  const summary = publishRecordSummary(summarizeRecord(docs.map(toSummaryRow), horizonDays));
  return { ...summary, ...buildScorecardPage(docs.toReversed(), limit, options) };
}
