import { summarizeRecord } from '../../../src/forecast/statistics/record-summary.ts';
import type { ForecastDoc } from '../../../src/record/forecast-doc.ts';
import type { ViewOptions } from '../../../src/record/forecast-visibility.ts';
import { buildScorecard, toSummaryRow } from '../../../src/record/scorecard/scorecard.ts';

/** The scorecard of these forecasts, in sequence order. */
export function scorecardOf(docs: readonly ForecastDoc[], horizonDays: number, options: ViewOptions, limit = docs.length) {
  return buildScorecard(summarizeRecord(docs.map(toSummaryRow), horizonDays), { newest: docs.toReversed(), limit }, options);
}
