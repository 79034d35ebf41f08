import { type Day, formatDay, toDay } from '../../../forecast/day.ts';
import { getNextPublicationMs, SERIES, type SeriesId } from '../../series/series.ts';
import type { DatedValue, DayRange, SeriesSource } from '../sources/source.ts';
import type { ObservationStream } from '../store/observations/observation-stream.ts';
import { clampToReach, splitRange } from './day-ranges.ts';
import type { CollectDeps } from './deps.ts';
import { fetchWithFallback } from './fetch-with-fallback.ts';
import type { Poll } from './poll.ts';

export interface SeriesPlan {
  /** The primary first. */
  sources: readonly SeriesSource[];
  everyMs: number;
}

/** Each poll fetches some days again to pick up late values and revisions. */
const OVERLAP_DAYS = 10;
/** Delay of providers after their scheduled publication. */
const PUBLICATION_GRACE_MS = 2 * 60_000;

export function createSeriesPoll(series: SeriesId, plan: SeriesPlan, deps: CollectDeps): Poll {
  return {
    id: series,
    everyMs: plan.everyMs,
    retryMs: Math.max(60_000, plan.everyMs / 8),
    async run(nowMs) {
      const today = toDay(nowMs);
      const last = (await deps.stores.observationCache.getHistory(series)).getLastFinalDay();
      const range = { from: Math.min(last ?? today, today) - OVERLAP_DAYS, to: today };
      await fetchWithFallback(
        plan.sources,
        { fetchFrom: (source) => fetchRange(source, range, deps, today), findProblem: (values) => findStaleProblem(series, values, today) },
        ({ provider, value }) => saveValues(deps, series, provider, value),
      );
      return getNextPollMs(series, nowMs);
    },
  };
}

export async function fetchRange(source: SeriesSource, wanted: DayRange, { providers }: CollectDeps, today: Day): Promise<DatedValue[]> {
  const range = clampToReach(source, wanted, today);
  if (range === null) return [];
  const values: DatedValue[] = [];
  for (const page of splitRange(range, source.pageDays)) values.push(...(await source.fetch(providers[source.provider], page)));
  return values;
}

/** Stores values and invalidates the cache of this process. */
export async function saveValues(deps: CollectDeps, stream: ObservationStream, provider: string, values: DatedValue[]): Promise<void> {
  const changed = await deps.stores.observations.save(stream, provider, values, { receivedAtMs: deps.now(), backfilled: false });
  if (changed > 0) await deps.stores.observationCache.invalidate(stream);
}

/** The next publication of the series plus the grace period. */
export function getNextPollMs(series: SeriesId, nowMs: number): number {
  return getNextPublicationMs(series, nowMs - PUBLICATION_GRACE_MS) + PUBLICATION_GRACE_MS;
}

function findStaleProblem(series: SeriesId, values: readonly DatedValue[], today: Day): string | null {
  const newest = values.reduce((latest, { day }) => Math.max(latest, day), Number.NEGATIVE_INFINITY);
  if (today - newest <= SERIES[series].staleDays) return null;
  return Number.isFinite(newest) ? `its newest value of ${series} is of ${formatDay(newest)}` : `it has no recent value of ${series}`;
}
