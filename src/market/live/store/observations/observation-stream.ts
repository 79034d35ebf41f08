import type { Day } from '../../../../forecast/day.ts';
import { getPublicationMs, SERIES, type SeriesId } from '../../../series/series.ts';

/** A series, the closes of single venues (`venueClose`, the input of `btcClose`), or one fund's part of `etfFlow`. */
export type ObservationStream = SeriesId | 'venueClose' | `fundFlow.${string}`;

/** The instant (ms) from which a value is final; a value received earlier is provisional. */
export function getFinalMs(stream: ObservationStream, day: Day): number {
  if (stream === 'venueClose') return getPublicationMs('btcClose', day);
  return getPublicationMs(stream in SERIES ? (stream as SeriesId) : 'etfFlow', day);
}
