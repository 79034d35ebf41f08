import { dayOf } from '../forecast/day.ts';
import { publishedAt, type SeriesId } from './series.ts';

/** The first instant (ms) after `atMs` at which a value of the series may become known, in a feed that publishes by the rules. */
export function nextPublication(series: SeriesId, atMs: number): number {
  const delayMs = publishedAt(series, 0);
  return publishedAt(series, dayOf(atMs - delayMs) + 1);
}
