import { IDENTITY } from '../../../../../agent-card/identity.ts';
import { type Day, formatDay, toInstantMs } from '../../../../forecast/day.ts';
import { formatHorizonName, type HorizonDays } from '../../../../forecast/model.ts';
import { joinUrl } from '../../../../platform/service-url.ts';
import { getOutcomeWindow } from '../../../../record/forecast-doc.ts';
import type { ForecastView } from '../../../../record/forecast-visibility.ts';
import { formatReturn, formatShare } from '../../../../views/forecast/format.ts';
import { formatUtc } from '../../../../views/time.ts';
import { CALENDAR_PATH } from './feed-paths.ts';
import { escapeIcalText, formatIcalTime, type IcalProperty, renderIcal } from './ical-lines.ts';

/** Days before today and after it whose forecasts are shown. */
export const CALENDAR_DAYS = { past: 30, coming: 7 } as const;

export interface CalendarDay {
  day: Day;
  /** As an anonymous caller sees it, and when it last changed; null before it is made. */
  forecast: { view: ForecastView; changedAt: Date } | null;
}

export interface CalendarInput {
  publicUrl: string;
  horizonDays: HorizonDays;
  days: readonly CalendarDay[];
}

const REFRESH_INTERVAL = 'PT6H';

interface CalendarEvent {
  name: 'opens' | 'ends';
  at: Date;
  summary: string;
  description: string;
}

/** RFC 5545, with the properties of a published calendar of RFC 7986: when the window of each day opens and ends, with results. */
export function renderCalendar(input: CalendarInput): string {
  return renderIcal([
    ['BEGIN', 'VCALENDAR'],
    ['VERSION', '2.0'],
    ['PRODID', `-//${IDENTITY.name}//EN`],
    ['CALSCALE', 'GREGORIAN'],
    ['NAME', escapeIcalText(IDENTITY.name)],
    // Clients from before RFC 7986 read these.
    ['X-WR-CALNAME', escapeIcalText(IDENTITY.name)],
    ['X-PUBLISHED-TTL', REFRESH_INTERVAL],
    ['DESCRIPTION', escapeIcalText(IDENTITY.description)],
    ['SOURCE;VALUE=URI', joinUrl(input.publicUrl, CALENDAR_PATH)],
    ['REFRESH-INTERVAL;VALUE=DURATION', REFRESH_INTERVAL],
    ...input.days.flatMap((day) => toEvents(day, input.horizonDays).flatMap((event) => renderEvent(event, day, input))),
    ['END', 'VCALENDAR'],
  ]);
}

function renderEvent(event: CalendarEvent, { day, forecast }: CalendarDay, { publicUrl, horizonDays }: CalendarInput): IcalProperty[] {
  const [date, horizon] = [formatDay(day), formatHorizonName(horizonDays)];
  // Of a forecast to come: when it first stood in the calendar.
  const changedAt = forecast?.changedAt ?? new Date(toInstantMs(day - CALENDAR_DAYS.coming));
  return [
    ['BEGIN', 'VEVENT'],
    ['UID', `${date}-${horizon}-${event.name}@${new URL(publicUrl).hostname}`],
    ['DTSTAMP', formatIcalTime(changedAt)],
    ['DTSTART', formatIcalTime(event.at)],
    ['SUMMARY', escapeIcalText(event.summary)],
    ['DESCRIPTION', escapeIcalText(event.description)],
    ...(forecast === null ? [] : [['URL', joinUrl(publicUrl, `/f/${date}/${horizon}`)] as const]),
    ['STATUS', forecast === null ? 'TENTATIVE' : 'CONFIRMED'],
    ['TRANSP', 'TRANSPARENT'],
    ['END', 'VEVENT'],
  ];
}

function toEvents({ day, forecast }: CalendarDay, horizonDays: HorizonDays): CalendarEvent[] {
  const { opensAtMs, resolvesAtMs } = getOutcomeWindow(day, horizonDays);
  const name = `BTC/USD forecast of ${formatDay(day)} (${formatHorizonName(horizonDays)})`;
  const [opensAt, endsAt] = [new Date(opensAtMs), new Date(resolvesAtMs)];
  const opens = `${name}: window opens`;
  const rule = 'The outcome is the daily close at the end of the window against that at its beginning.';
  return [
    { name: 'opens', at: opensAt, summary: opens, description: `${rule} It ends at ${formatUtc(endsAt.toISOString())}.` },
    { name: 'ends', at: endsAt, ...describeEnd(name, forecast?.view ?? null) },
  ];
}

const RESULTS = { WIN: 'right', LOSS: 'wrong' } as const;

function describeEnd(name: string, view: ForecastView | null): Pick<CalendarEvent, 'summary' | 'description'> {
  if (view === null) return { summary: `${name}: window ends`, description: 'The forecast is not made yet.' };
  if (view.missed) return { summary: `${name}: missed`, description: 'Nothing was forecast. It counts for nothing.' };
  if (view.status === 'VOID')
    return { summary: `${name}: void`, description: 'Committed after its window had opened. It counts for nothing.' };
  if (!view.resolved) return { summary: `${name}: window ends`, description: 'The outcome is revealed on chain within hours.' };
  const { result, signal, direction, pUp, returnBps, resolvedAt } = view;
  return {
    summary: `${name}: ${result === null ? 'HOLD' : RESULTS[result]}, BTC ${formatReturn(returnBps)}`,
    description: `It said ${signal}, ${direction} with P(up) ${formatShare(pUp)}. Revealed at ${resolvedAt === null ? '–' : formatUtc(resolvedAt)}.`,
  };
}
