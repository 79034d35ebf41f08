import type { Day } from '../../../../forecast/day.ts';
import { getPublicationMs, SERIES, type SeriesId } from '../../../series/series.ts';

/**
 * What observations are kept under: a series; `venueClose`, the closes of single venues, from which `btcClose` is agreed; or
 * `fundFlow.<ticker>`, one fund's part of `etfFlow`.
 */
export type ObservationStream = SeriesId | 'venueClose' | `fundFlow.${string}`;

/** The series whose calendar a stream follows. */
export function getSeriesId(stream: ObservationStream): SeriesId {
  if (stream === 'venueClose') return 'btcClose';
  return stream in SERIES ? (stream as SeriesId) : 'etfFlow';
}

/** The instant (ms) from which a value of this stream and day is final; what is told earlier is provisional. */
export function getFinalMs(stream: ObservationStream, day: Day): number {
  return getPublicationMs(getSeriesId(stream), day);
}
