import { toDay } from '../../forecast/day.ts';
import { getPublicationMs, type SeriesId } from './series.ts';

/** The first instant (ms) after `atMs` at which a value of the series may become known, in a feed that publishes by the rules. */
export function getNextPublicationMs(series: SeriesId, atMs: number): number {
  const delayMs = getPublicationMs(series, 0);
  return getPublicationMs(series, toDay(atMs - delayMs) + 1);
}
