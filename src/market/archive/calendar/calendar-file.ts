import { readFile } from 'node:fs/promises';
import { CsvError, parse } from 'csv-parse/sync';
import { z } from 'zod';
import { OracleError } from '../../../platform/errors.ts';
import type { CalendarEvent } from './calendar-event.ts';

const ROWS = z.array(z.object({ event: z.enum(['fomc', 'cpi']), date: z.iso.date() }));

/** A CSV file with the columns `event` (`fomc` or `cpi`) and `date`. @throws OracleError FEED_UNAVAILABLE, FEED_INVALID */
export async function readCalendarFile(path: string, event: 'fomc' | 'cpi'): Promise<CalendarEvent[]> {
  const rows = ROWS.safeParse(parseRows(await readText(path), path));
  if (!rows.success) {
    const [{ path: place, message }] = rows.error.issues;
    throw new OracleError('FEED_INVALID', `${path}: ${place.join('.')} ${message}`, { field: 'EVENT_CALENDAR' });
  }
  return rows.data.filter((row) => row.event === event).map(({ date }) => ({ date, note: null }));
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code;
    throw new OracleError('FEED_UNAVAILABLE', `${path}: cannot be read (${code})`, { field: 'EVENT_CALENDAR', cause });
  }
}

function parseRows(text: string, path: string): unknown {
  try {
    return parse(text, { bom: true, columns: true, skip_empty_lines: true, trim: true });
  } catch (cause) {
    if (!(cause instanceof CsvError)) throw cause;
    throw new OracleError('FEED_INVALID', `${path}: not readable as CSV (${cause.code})`, { field: 'EVENT_CALENDAR', cause });
  }
}
