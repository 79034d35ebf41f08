import type { RecordRow } from '../forecast/statistics/record-summary.ts';
import type { ScoredForecast } from '../forecast/statistics/scored-forecast.ts';
import type { ForecastDoc } from './forecast.ts';
import { committedProbabilities, statusOf } from './views.ts';

/** A forecast as the statistics read it, as everybody is told. */
export function recordRow(doc: ForecastDoc): RecordRow {
  return { day: doc.day, status: statusOf(doc), missed: doc.missed, scored: scoredForecast(doc) };
}

/** What is scored of a forecast; null until its outcome is on chain. */
export function scoredForecast({ day, values, resolution, reveal }: ForecastDoc): ScoredForecast | null {
  if (reveal === null || resolution === null || values === null) return null;
  return {
    day,
    call: values.signal === 'HOLD' ? null : values.direction,
    rose: resolution.actualDirection === 'UP',
    pUp: committedProbabilities(values).pUp,
    climatology: values.climatology,
    distribution: null,
  };
}
