import type { Day } from '../../../../forecast/day.ts';
import { getPublicationMs, SERIES, type SeriesId } from '../../../series/series.ts';

/** The inputs of `btcClose`, `btcHigh` and `btcLow`: the candles of single venues. */
const VENUE_STREAMS = { venueClose: 'btcClose', venueHigh: 'btcHigh', venueLow: 'btcLow' } as const satisfies Record<string, SeriesId>;
type VenueStream = keyof typeof VENUE_STREAMS;

/** A series, a column of the candles of single venues, or one fund's part of `etfFlow`. */
export type ObservationStream = SeriesId | VenueStream | `fundFlow.${string}`;

/** The instant (ms) from which a value is final; a value received earlier is provisional. */
export function getFinalMs(stream: ObservationStream, day: Day): number {
  if (stream in VENUE_STREAMS) return getPublicationMs(VENUE_STREAMS[stream as VenueStream], day);
  return getPublicationMs(stream in SERIES ? (stream as SeriesId) : 'etfFlow', day);
}
