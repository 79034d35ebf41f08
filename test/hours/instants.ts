import { UsageError } from './usage-error.ts';

export interface Instant {
  name: string;
  /** Milliseconds since 1970 at which the suites begin. */
  ms: number;
}

/** Fixed dates, so that a failure can be repeated: next to a day's steps, the outcome checks, the weekly report, and calendar edges. */
const DATES: Record<string, string> = {
  '00:05': '2027-01-13T00:05:00Z',
  '03:00': '2027-01-14T03:00:00Z',
  'sunday-14:59': '2027-01-17T14:59:00Z',
  '21:36': '2027-01-15T21:36:00Z',
  '23:58': '2027-01-16T23:58:00Z',
  'monday-00:29': '2027-01-18T00:29:00Z',
  'year-end': '2026-12-31T21:30:00Z',
  'leap-day': '2028-02-29T12:00:00Z',
};

export const INSTANTS: Instant[] = Object.entries(DATES).map(([name, date]) => ({ name, ms: Date.parse(date) }));

/** The instant of a name in the list, or of an ISO 8601 date in UTC. @throws UsageError when it is neither. */
export function parseInstant(text: string): Instant {
  const named = INSTANTS.find(({ name }) => name === text);
  if (named !== undefined) return named;
  const ms = /^\d{4}-\d{2}-\d{2}T.*Z$/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(ms)) throw new UsageError(`--at ${text}: use an ISO 8601 instant in UTC or one of ${Object.keys(DATES).join(', ')}`);
  return { name: text, ms };
}
