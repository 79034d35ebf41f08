import { renderTime } from '../../views/time.ts';
import type { Child } from './dom.ts';
import { toNodes } from './markup-dom.ts';

/** Times are shown in the zone of the reader, with UTC as their title; dates of forecasts stay UTC dates. */

/** `2026-11-22 22:35 CET` for an ISO 8601 time. @param timeZone default: of the reader */
export function formatLocalTime(time: string, timeZone?: string): string {
  const { year, month, day, ...clock } = readClock(time, timeZone);
  return `${year}-${month}-${day} ${formatClock(clock)}`;
}

/** `22:35 CET`. */
export function formatLocalClock(time: string, timeZone?: string): string {
  return formatClock(readClock(time, timeZone));
}

/** A `time` element; a dash without a time. @param time ISO 8601 @param form with or without the date */
export function createTime(time: string | null | undefined, form: 'full' | 'clock' = 'full'): Child {
  if (!time) return '–';
  const [element] = toNodes(renderTime(time)) as [HTMLElement];
  element.textContent = form === 'full' ? formatLocalTime(time) : formatLocalClock(time);
  return element;
}

/** Times that the server has written in UTC. */
export function localizeTimes(root: ParentNode = document) {
  for (const element of root.querySelectorAll<HTMLTimeElement>('time.local')) element.textContent = formatLocalTime(element.dateTime);
}

type Clock = Record<'hour' | 'minute' | 'timeZoneName', string>;

function formatClock({ hour, minute, timeZoneName }: Clock) {
  return `${hour}:${minute} ${timeZoneName}`;
}

function readClock(time: string, timeZone: string | undefined) {
  const two = '2-digit';
  const form = new Intl.DateTimeFormat('en-GB', {
    ...{ year: 'numeric', month: two, day: two, hour: two, minute: two, timeZoneName: 'short', timeZone },
  });
  const parts = form.formatToParts(new Date(time)).map(({ type, value }) => [type, value]);
  return Object.fromEntries(parts) as Clock & Record<'year' | 'month' | 'day', string>;
}
