import { type Day, toDay } from '../../forecast/day.ts';
import type { Feed } from '../feed.ts';
import type { CircuitState } from '../live/providers/provider.ts';
import type { ProviderId } from '../live/providers/providers.ts';
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
export async function getSeriesHealth(feed: Feed, atMs: number): Promise<SeriesHealth[]> {
  const circuits = new Map((await feed.providerHealth()).map(({ provider, circuit }) => [provider, circuit]));
  const { getProviderIds } =
    feed.kind === 'live' ? await import('../live/sources/registry.ts') : { getProviderIds: (): ProviderId[] => [] };
  return Promise.all(
    SERIES_IDS.map(async (series) => {
      const { source, days } = await feed.observations(series, atMs, 'latest');
      const lastObservedDay = days.at(-1) ?? null;
      const ageDays = lastObservedDay === null ? null : toDay(atMs) - lastObservedDay;
      const stale = ageDays === null || ageDays > SERIES[series].staleDays;
      const providers = getProviderIds(series).map((provider) => ({ provider, circuit: circuits.get(provider) ?? 'closed' }));
      return { series, title: SERIES[series].title, source, lastObservedDay, ageDays, stale, providers };
    }),
  );
}
