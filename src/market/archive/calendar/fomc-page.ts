import { parse } from 'node-html-parser';
import { z } from 'zod';
import { invalidAnswer, parseAnswer } from '../../live/sources/http-source.ts';
import type { CalendarEvent } from './calendar-event.ts';

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

/** A truncated page would be a calendar without its last meetings. */
const PAGE = z.string().regex(/<\/html>\s*$/i, 'is not complete');

/** The last day of each meeting, which is that of the decision. Notation votes and cancelled meetings are left out. */
export function parseFomcPage(body: unknown, title: string): CalendarEvent[] {
  const page = parse(parseAnswer(PAGE, body, title));
  const events = page.querySelectorAll('.panel').flatMap((panel) => {
    const [, year] = /(\d{4}) FOMC Meetings/.exec(panel.querySelector('.panel-heading')?.text ?? '') ?? [];
    if (year === undefined) return [];
    return panel.querySelectorAll('.fomc-meeting').flatMap((row) => {
      const months = row.querySelector('.fomc-meeting__month')?.text.trim() ?? '';
      const days = row.querySelector('.fomc-meeting__date')?.text.trim() ?? '';
      return parseMeeting(Number(year), months, days, title);
    });
  });
  if (events.length === 0) throw invalidAnswer(title, 'answer', 'has no meetings');
  return events;
}

/** @param months `January` or `Apr/May` @param days `27-28`, `17-18*`, `30-1` or `22 (notation vote)` */
function parseMeeting(year: number, months: string, days: string, title: string): CalendarEvent[] {
  if (/notation|cancel/i.test(days)) return [];
  const numbers = days.match(/\d{1,2}/g)?.map(Number) ?? [];
  const names = months.split('/').map((name) => MONTHS.indexOf(name.trim().slice(0, 3).toLowerCase()));
  const [first, last] = [names[0], names[names.length - 1]];
  const day = numbers[numbers.length - 1];
  if (first === undefined || names.includes(-1) || day === undefined) throw invalidAnswer(title, 'meeting', 'is unreadable');
  // "Apr/May 30-1" ends in the second month.
  const month = numbers.length > 1 && day > numbers[0] ? first : last;
  const date = new Date(Date.UTC(year, month, day));
  if (date.getUTCDate() !== day) throw invalidAnswer(title, 'meeting', 'has no such day');
  const note = /unscheduled/i.test(days) ? 'unscheduled' : null;
  return [{ date: date.toISOString().slice(0, 10), note }];
}
