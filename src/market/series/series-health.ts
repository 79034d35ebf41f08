import { toDay } from '../../forecast/day.ts';
import type { Feed } from '../feed.ts';
import type { ProviderId } from '../live/providers/providers.ts';
import { SERIES, SERIES_IDS } from './series.ts';

export type SeriesHealth = Awaited<ReturnType<typeof getSeriesHealth>>[number];

/** Coverage and staleness of each series at `atMs`; `providers` are those of a live feed, the primary first. @throws the errors of the feed */
export async function getSeriesHealth(feed: Feed, atMs: number) {
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
