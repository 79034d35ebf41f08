import { formatDay } from '../../forecast/day.ts';
import type { DayDoc } from '../day-doc.ts';
import type { ForecastDoc } from '../forecast-doc.ts';
import { sanitizeText } from '../sanitize-text.ts';

export const INCIDENTS = ['late', 'missed', 'void', 'uncommitted', 'waiting'] as const;

interface WeeklyIncident {
  date: string;
  kind: (typeof INCIDENTS)[number];
  detail: string;
}

const MAX_REASON_CHARS = 200;

export function listWeeklyIncidents(days: readonly DayDoc[], known: readonly ForecastDoc[], asOf: Date): WeeklyIncident[] {
  const inWeek = new Set(days.map(({ day }) => day));
  const forecast = known.filter(({ missed }) => !missed);
  return [
    ...days.flatMap(listDayIncidents),
    ...toIncidentsByDate(
      forecast.filter(({ day, state }) => state === 'VOID' && inWeek.has(day)),
      'void',
      'committed after their window had opened: they never count',
    ),
    ...toIncidentsByDate(
      forecast.filter(({ state }) => state === 'DRAFT'),
      'uncommitted',
      'not on chain when the week was over',
    ),
    ...toIncidentsByDate(
      forecast.filter(({ state, resolvesAt }) => state === 'PENDING' && resolvesAt <= asOf),
      'waiting',
      'over, and waiting for their resolution when the week was over',
    ),
  ].toSorted((a, b) => a.date.localeCompare(b.date));
}

function listDayIncidents({ _id: date, missedBecause, late }: DayDoc): WeeklyIncident[] {
  if (missedBecause !== null) return [{ date, kind: 'missed', detail: sanitizeText(missedBecause, MAX_REASON_CHARS) }];
  return late ? [{ date, kind: 'late', detail: 'forecast after its time' }] : [];
}

function toIncidentsByDate(docs: readonly ForecastDoc[], kind: WeeklyIncident['kind'], detail: string): WeeklyIncident[] {
  return [...Map.groupBy(docs, ({ day }) => day)].map(([day, members]) => ({
    date: formatDay(day),
    kind,
    detail: `${members.map(({ horizonDays }) => `${horizonDays}d`).join(', ')}: ${detail}`,
  }));
}
