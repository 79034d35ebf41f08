import { z } from 'zod';
import { invalidAnswer, parseAnswer } from '../../live/sources/http-source.ts';
import type { CalendarEvent } from './calendar-event.ts';

const CALENDAR = z.string().regex(/^\s*BEGIN:VCALENDAR[\s\S]*END:VCALENDAR\s*$/, 'is not a complete iCalendar');
const CPI = /^Consumer Price Index(?: for\b.*)?$/;

/** Releases of the CPI in the iCalendar (RFC 5545) of the Bureau of Labor Statistics. */
export function parseBlsCalendar(body: unknown, title: string): CalendarEvent[] {
  // A line that begins with a space continues the one before.
  const text = parseAnswer(CALENDAR, body, title).replaceAll(/\r?\n[ \t]/g, '');
  const events = text
    .split('BEGIN:VEVENT')
    .slice(1)
    .flatMap((event) => parseEvent(event, title));
  if (events.length === 0) throw invalidAnswer(title, 'answer', 'has no release of the CPI');
  return events;
}

function parseEvent(event: string, title: string): CalendarEvent[] {
  const [, summary = ''] = /^SUMMARY(?:;[^:\n]*)?:(.*)$/m.exec(event) ?? [];
  if (!CPI.test(summary.trim())) return [];
  const [, year, month, day] = /^DTSTART(?:;[^:\n]*)?:(\d{4})(\d{2})(\d{2})/m.exec(event) ?? [];
  const date = `${year}-${month}-${day}`;
  if (!z.iso.date().safeParse(date).success) throw invalidAnswer(title, 'DTSTART', 'has no date');
  return [{ date, note: /^STATUS:CANCELLED/m.test(event) ? 'cancelled' : null }];
}
