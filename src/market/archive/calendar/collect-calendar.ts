import { formatDay, toDay } from '../../../forecast/day.ts';
import type { ProviderRequest } from '../../live/providers/provider.ts';
import type { ProviderId } from '../../live/providers/providers.ts';
import { fetchParsed } from '../../live/sources/http-source.ts';
import { type ArchiveEntry, type ArchiveProvider, CALENDAR_KEY } from '../archive-series.ts';
import type { ArchiveCollector } from '../collector.ts';
import { parseBlsCalendar } from './bls-calendar.ts';
import { type CalendarEvent, requireCurrent } from './calendar-event.ts';
import { readCalendarFile } from './calendar-file.ts';
import { parseFomcPage } from './fomc-page.ts';

interface PublicCalendar {
  series: 'fomc' | 'cpi';
  provider: ProviderId;
  request: ProviderRequest;
  parse(body: unknown, title: string): CalendarEvent[];
}

const CALENDARS: readonly PublicCalendar[] = [
  {
    series: 'fomc',
    provider: 'federal-reserve',
    request: { path: '/monetarypolicy/fomccalendars.htm', format: 'text' },
    parse: parseFomcPage,
  },
  {
    series: 'cpi',
    provider: 'bls',
    request: { path: '/schedule/news_release/bls.ics', format: 'text' },
    parse: parseBlsCalendar,
  },
];

/** Read once a day; a vintage is stored when it differs from the one before. @param file replaces the public calendars; null: none */
export function createCalendarCollectors(file: string | null): ArchiveCollector[] {
  return CALENDARS.map((calendar) => (file === null ? createPublicCollector(calendar) : createFileCollector(calendar.series, file)));
}

const PRESENT = { reachDays: 0, maxDelayMs: null };

function createPublicCollector({ series, provider: id, request, parse }: PublicCalendar): ArchiveCollector {
  return {
    series,
    providers: [id],
    ...PRESENT,
    async collect(_day, { providers }) {
      const provider = providers[id];
      const entry = await fetchParsed(provider, request, ({ body, receivedAtMs, providerAtMs }) => {
        const events = requireCurrent(parse(body, provider.title), formatDay(toDay(receivedAtMs)), provider.title);
        return toEntry({ series, provider: id, events, receivedAtMs, providerAtMs });
      });
      return { entries: [entry], problems: [] };
    },
  };
}

function createFileCollector(series: 'fomc' | 'cpi', file: string): ArchiveCollector {
  return {
    series,
    providers: ['file'],
    ...PRESENT,
    async collect(_day, { nowMs: receivedAtMs }) {
      const events = requireCurrent(await readCalendarFile(file, series), formatDay(toDay(receivedAtMs)), `${file}, ${series}`);
      return { entries: [toEntry({ series, provider: 'file', events, receivedAtMs, providerAtMs: null })], problems: [] };
    },
  };
}

interface Reading extends Pick<ArchiveEntry, 'series' | 'receivedAtMs' | 'providerAtMs'> {
  provider: ArchiveProvider;
  events: readonly CalendarEvent[];
}

function toEntry({ events, ...reading }: Reading): ArchiveEntry {
  return { ...reading, key: CALENDAR_KEY, values: { events }, masked: [] };
}
