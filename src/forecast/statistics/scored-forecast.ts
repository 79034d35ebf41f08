import type { Day } from '../day.ts';
import { requireAscending } from '../math/require-ascending.ts';
import type { Direction } from '../signal.ts';

/** A forecast whose window is over, as the statistics read it. */
export interface ScoredForecast {
  day: Day;
  /** What was called; null for HOLD, of which only the probability is scored. */
  call: Direction | null;
  /** Whether the close at resolution was strictly higher than that at window open. */
  rose: boolean;
  pUp: number;
  /** The base rate known at the time; null where it is not known. */
  climatology: number | null;
  /** Score of the predictive distribution, in log-return units, and how much of it lay below the outcome, 0 to 1. Null where it is not known. */
  distribution: { crps: number; pit: number } | null;
}

/** A number a day from the first day of the forecasts to the last, 0 on days without one. @throws OracleError INPUT_INVALID unless days ascend */
export function toDailyColumn<T extends { day: Day }>(forecasts: readonly T[], numberOf: (forecast: T) => number): Float64Array {
  if (forecasts.length === 0) return new Float64Array();
  const first = forecasts[0].day;
  const column = new Float64Array(forecasts[forecasts.length - 1].day - first + 1);
  let before = first - 1;
  for (const forecast of forecasts) {
    requireAscending(before, forecast.day);
    before = forecast.day;
    column[forecast.day - first] = numberOf(forecast);
  }
  return column;
}
