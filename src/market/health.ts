import { type Day, dayOf } from '../forecast/day.ts';
import type { Feed } from './feed.ts';
import { SERIES, SERIES_IDS, type SeriesId } from './series.ts';

export interface SeriesHealth {
  series: SeriesId;
  title: string;
  source: string;
  lastObservedDay: Day | null;
  /** Days from the last observation to the asked instant; null without one. */
  ageDays: number | null;
  /** True when the series is missing, or its last observation is too old to be used. */
  stale: boolean;
}

/** How far each series reaches at an instant. @throws what the feed throws */
export async function seriesHealth(feed: Feed, atMs: number): Promise<SeriesHealth[]> {
  return Promise.all(
    SERIES_IDS.map(async (series) => {
      const { source, days } = await feed.observations(series, atMs);
      const lastObservedDay = days.at(-1) ?? null;
      const ageDays = lastObservedDay === null ? null : dayOf(atMs) - lastObservedDay;
      const stale = ageDays === null || ageDays > SERIES[series].staleDays;
      return { series, title: SERIES[series].title, source, lastObservedDay, ageDays, stale };
    }),
  );
}
