import { type Day, dayOf } from '../forecast/day.ts';
import type { Feed } from './feed.ts';
import type { CircuitState } from './live/provider.ts';
import type { ProviderId } from './live/providers.ts';
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
  /** Who is asked for it, the primary first; empty where nobody is. */
  providers: { provider: ProviderId; circuit: CircuitState }[];
}

/** How far each series reaches at an instant. @throws what the feed throws */
export async function seriesHealth(feed: Feed, atMs: number): Promise<SeriesHealth[]> {
  const circuits = new Map((await feed.providers()).map(({ provider, circuit }) => [provider, circuit]));
  const { providersOf } = feed.kind === 'live' ? await import('./live/registry.ts') : { providersOf: (): ProviderId[] => [] };
  return Promise.all(
    SERIES_IDS.map(async (series) => {
      const { source, days } = await feed.observations(series, atMs, 'latest');
      const lastObservedDay = days.at(-1) ?? null;
      const ageDays = lastObservedDay === null ? null : dayOf(atMs) - lastObservedDay;
      const stale = ageDays === null || ageDays > SERIES[series].staleDays;
      const providers = providersOf(series).map((provider) => ({ provider, circuit: circuits.get(provider) ?? 'closed' }));
      return { series, title: SERIES[series].title, source, lastObservedDay, ageDays, stale, providers };
    }),
  );
}
