import type { ScoredForecast } from '../../forecast/statistics/scored-forecast.ts';
import type { RecordRow } from '../../forecast/statistics/win-rate.ts';
import type { ForecastDoc } from '../forecast-doc.ts';
import { toCommittedProbabilities, toPublicStatus } from '../forecast-view.ts';

/** The public row of a forecast for the statistics. */
export function toSummaryRow(doc: ForecastDoc): RecordRow {
  return { day: doc.day, status: toPublicStatus(doc), missed: doc.missed, scored: toScoredForecast(doc) };
}

/** Null until the outcome is on chain. */
export function toScoredForecast({ day, values, resolution, reveal }: ForecastDoc): ScoredForecast | null {
  if (reveal === null || resolution === null || values === null) return null;
  return {
    day,
    call: values.signal === 'HOLD' ? null : values.direction,
    rose: resolution.actualDirection === 'UP',
    pUp: toCommittedProbabilities(values).pUp,
    climatology: values.climatology,
    distribution: null,
  };
}
