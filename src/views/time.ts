import { el, type MarkupElement } from './markup.ts';

/** `2026-11-22 21:35 UTC` for an ISO 8601 time. */
export function formatUtc(time: string): string {
  return `${time.slice(0, 10)} ${time.slice(11, 16)} UTC`;
}

/** A time in UTC, which the script replaces by the same time in the zone of the reader. @param time ISO 8601 */
export function renderTime(time: string): MarkupElement {
  return el('time', { class: 'local', datetime: time, title: formatUtc(time) }, formatUtc(time));
}
