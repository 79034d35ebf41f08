import { type Day, toDay } from '../../forecast/day.ts';
import type { Feed } from '../feed.ts';
import { type Observations, sliceKnownAt } from './observations.ts';
import { getPublicationMs, SERIES, type SeriesId } from './series.ts';

/** The last good value of a series for display, with its age. */
export interface LatestReading {
  series: SeriesId;
  title: string;
  unit: string;
  source: string;
  /** Null, like `observedDay` and `observedAtMs`, only before the first value. */
  value: number | null;
  observedDay: Day | null;
  /** When this value became known (ms). */
  observedAtMs: number | null;
  ageDays: number | null;
  /** True when the value is missing or exceeds the series' `staleDays`. */
  stale: boolean;
  /** True before the value's publication time. */
  provisional: boolean;
}

export interface SeriesReading {
  reading: LatestReading;
  /** All known observations in their newest versions, ascending. */
  known: Observations;
}

/** Reads the newest version of a series, provisional values included. @throws the errors of the feed */
export async function readSeries(feed: Feed, series: SeriesId, atMs: number): Promise<SeriesReading> {
  const known = sliceKnownAt(await feed.observations(series, atMs, 'latest'), atMs);
  return { reading: buildLatestReading(series, known, atMs), known };
}

export function buildLatestReading(series: SeriesId, { source, days, values, availableAt }: Observations, atMs: number): LatestReading {
  const { title, unit, staleDays } = SERIES[series];
  const origin = { series, title, unit, source };
  const last = days.length - 1;
  if (last < 0) {
    return { ...origin, value: null, observedDay: null, observedAtMs: null, ageDays: null, stale: true, provisional: false };
  }
  const observedDay = days[last];
  const ageDays = toDay(atMs) - observedDay;
  const publishedAtMs = getPublicationMs(series, observedDay);
  // A repeated or late delivery does not make a value newer.
  const observedAtMs = Math.min(availableAt[last], publishedAtMs);
  const read = { value: values[last], observedDay, observedAtMs, ageDays };
  return { ...origin, ...read, stale: ageDays > staleDays, provisional: atMs < publishedAtMs };
}
