import { OracleError } from '../../../platform/errors.ts';

export interface CalendarEvent {
  /** `YYYY-MM-DD`, US Eastern time. */
  date: string;
  /** `unscheduled`, or null. */
  note: string | null;
}

const MAX_EVENTS = 1_000;

/** By date, each once. @throws OracleError FEED_UNAVAILABLE for a calendar that ends in the past */
export function requireCurrent(events: readonly CalendarEvent[], today: string, title: string): CalendarEvent[] {
  const byDate = new Map(events.map((event) => [event.date, event]));
  const sorted = [...byDate.values()].toSorted((a, b) => (a.date < b.date ? -1 : 1));
  if (sorted.length > MAX_EVENTS) throw new OracleError('FEED_INVALID', `${title}: more than ${MAX_EVENTS} dates`, { field: 'answer' });
  const last = sorted.at(-1)?.date ?? 'never';
  if (last < today || sorted.length === 0) throw new OracleError('FEED_UNAVAILABLE', `${title}: the last date is ${last}`);
  return sorted;
}
