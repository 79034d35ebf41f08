import { DAY_MS, toDay } from '../../forecast/day.ts';
import type { ForecastDoc } from '../forecast-doc.ts';
import type { ForecastRecord } from '../forecast-record.ts';
import { computeForecastWinRate } from '../scorecard/scorecard.ts';

interface RecentRange {
  horizonDays: number;
  days: number;
  now: Date;
}

export async function readRecentAccuracy(record: ForecastRecord, at: RecentRange) {
  // The window of a day closes `horizonDays` after its end.
  const first = toDay(at.now.getTime()) - at.days - at.horizonDays - 1;
  return computeRecentAccuracy(await record.listSince(at.horizonDays, first), at);
}

/** Share of wins among forecasts of one horizon whose window closed within the last `days`; HOLD and VOID do not count. */
export function computeRecentAccuracy(docs: ForecastDoc[], at: RecentRange) {
  const since = at.now.getTime() - at.days * DAY_MS;
  const recent = docs.filter(({ resolvesAt }) => resolvesAt.getTime() > since && resolvesAt <= at.now);
  const { n, wins, accuracy, effectiveN, independent, interval95 } = computeForecastWinRate(recent, at.horizonDays);
  return { days: at.days, n, wins, accuracy, effectiveN, independent, interval95 };
}
