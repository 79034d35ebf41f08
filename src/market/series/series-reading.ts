import { type Day, toDay } from '../../forecast/day.ts';
import type { Feed } from '../feed.ts';
import { type Observations, sliceKnownAt } from './observations.ts';
import { getPublicationMs, SERIES, type SeriesId } from './series.ts';

/** The last value of a series as people want it: always the last good one, with what must be known about its age. */
export interface LatestReading {
  series: SeriesId;
  title: string;
  unit: string;
  source: string;
  /** Null only when there never was a value; then so are `observedDay` and `observedAtMs`. */
  value: number | null;
  /** The date that the value describes. */
  observedDay: Day | null;
  /** When this value was first known (ms). */
  observedAtMs: number | null;
  ageDays: number | null;
  /** True when the value is missing, or older than its series allows. */
  stale: boolean;
  /** True when the value was asked for before it is final. */
  provisional: boolean;
}

export interface SeriesReading {
  reading: LatestReading;
  /** Everything known of the series, newest versions, ascending. */
  known: Observations;
}

/** Reads a series in its newest version, provisional values included. @throws what the feed throws */
export async function readSeries(feed: Feed, series: SeriesId, atMs: number): Promise<SeriesReading> {
  const known = sliceKnownAt(await feed.observations(series, atMs, 'latest'), atMs);
  return { reading: buildLatestReading(series, known, atMs), known };
}

/** The last of a series' known observations, as read at `atMs`. */
export function buildLatestReading(series: SeriesId, { source, days, values, availableAt }: Observations, atMs: number): LatestReading {
  const { title, unit, staleDays } = SERIES[series];
  const last = days.length - 1;
  if (last < 0) {
    const missing = { value: null, observedDay: null, observedAtMs: null, ageDays: null };
    return { series, title, unit, source, ...missing, stale: true, provisional: false };
  }
  const observedDay = days[last];
  const ageDays = toDay(atMs) - observedDay;
  const publishedAtMs = getPublicationMs(series, observedDay);
  const provisional = atMs < publishedAtMs;
  // Being told again, or late, makes a value no younger.
  const observedAtMs = Math.min(availableAt[last], publishedAtMs);
  const read = { value: values[last], observedDay, observedAtMs, ageDays };
  return { series, title, unit, source, ...read, stale: ageDays > staleDays, provisional };
}
