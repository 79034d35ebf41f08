import type { Day } from '../day.ts';
import { requireAscending } from '../math/effective-count.ts';
import type { Direction } from '../signal.ts';

export interface ScoredForecast {
  day: Day;
  /** Null for HOLD, whose probability alone is scored. */
  call: Direction | null;
  /** Whether the close at resolution was strictly higher than that at window open. */
  rose: boolean;
  pUp: number;
  /** The base rate known at the time; null where unknown. */
  climatology: number | null;
  /** CRPS in log-return units, and the probability integral transform of the outcome, 0 to 1; null where unknown. */
  distribution: { crps: number; pit: number } | null;
}

/** Consecutive days. */
export interface DaySpan {
  first: Day;
  days: number;
}

export function spanOf(forecasts: readonly { day: Day }[]): DaySpan {
  const first = forecasts[0]?.day ?? 0;
  return { first, days: forecasts.length === 0 ? 0 : forecasts[forecasts.length - 1].day - first + 1 };
}

/** Values by day of `span`, by default from the first forecast to the last; 0 on days without one. @throws OracleError INPUT_INVALID unless days ascend */
export function toDailyColumn<T extends { day: Day }>(
  forecasts: readonly T[],
  numberOf: (forecast: T) => number,
  { first, days }: DaySpan = spanOf(forecasts),
): Float64Array {
  const column = new Float64Array(days);
  let before = first - 1;
  for (const forecast of forecasts) {
    requireAscending(before, forecast.day);
    before = forecast.day;
    column[forecast.day - first] = numberOf(forecast);
  }
  return column;
}
