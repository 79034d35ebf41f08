import { DAY_MS } from '../../forecast/day.ts';
import type { ForecastDoc } from '../forecast-doc.ts';
import { computeForecastWinRate } from '../scorecard/scorecard.ts';

/** Share of wins among forecasts of one horizon whose window closed within the last `days`; HOLD and VOID do not count. */
export function computeRecentAccuracy(docs: ForecastDoc[], at: { horizonDays: number; days: number; now: Date }) {
  const since = at.now.getTime() - at.days * DAY_MS;
  const recent = docs.filter(({ resolvesAt }) => resolvesAt.getTime() > since && resolvesAt <= at.now);
  const { n, wins, accuracy, effectiveN, independent, interval95 } = computeForecastWinRate(recent, at.horizonDays);
  return { days: at.days, n, wins, accuracy, effectiveN, independent, interval95 };
}
