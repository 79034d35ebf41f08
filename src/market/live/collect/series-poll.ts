import { type Day, dayOf, formatDay } from '../../../forecast/day.ts';
import { nextPublication } from '../../next-publication.ts';
import { SERIES, type SeriesId } from '../../series.ts';
import type { Provider } from '../provider.ts';
import type { ProviderId } from '../providers.ts';
import type { DatedValue, DayRange, SeriesSource } from '../source.ts';
import type { LiveStores } from '../stores.ts';
import type { Stream } from '../streams.ts';
import { firstAnswer } from './first-answer.ts';
import { pagesOf, withinReach } from './pages.ts';
import type { Poll } from './poll.ts';

export interface SeriesPlan {
  /** The primary first. */
  sources: readonly SeriesSource[];
  everyMs: number;
}

export interface CollectParts {
  stores: LiveStores;
  providers: Record<ProviderId, Provider>;
  now(): number;
}

/** Every poll asks for some days again: late values and revisions come with them. */
const OVERLAP_DAYS = 10;
/** Providers need a moment after the hour that they publish at. */
const PUBLICATION_GRACE_MS = 2 * 60_000;

/** Asks for the newest values of a series, its sources in their order. */
export function seriesPoll(series: SeriesId, plan: SeriesPlan, parts: CollectParts): Poll {
  return {
    id: series,
    everyMs: plan.everyMs,
    retryMs: Math.max(60_000, plan.everyMs / 8),
    async run(nowMs) {
      const today = dayOf(nowMs);
      const last = (await parts.stores.memory.stream(series)).lastFinalDay();
      const range = { from: Math.min(last ?? today, today) - OVERLAP_DAYS, to: today };
      await firstAnswer(
        plan.sources,
        { ask: (source) => fetchRange(source, range, parts, today), complaint: (values) => tooOld(series, values, today) },
        ({ provider, value }) => keep(parts, series, provider, value),
      );
      return afterPublication(series, nowMs);
    },
  };
}

/** All that a source has of a range. */
export async function fetchRange(source: SeriesSource, wanted: DayRange, { providers }: CollectParts, today: Day): Promise<DatedValue[]> {
  const range = withinReach(source, wanted, today);
  if (range === null) return [];
  const values: DatedValue[] = [];
  for (const page of pagesOf(range, source.pageDays)) values.push(...(await source.fetch(providers[source.provider], page)));
  return values;
}

/** Stores what came, and has readers of this process see it. */
export async function keep(parts: CollectParts, stream: Stream, provider: string, values: readonly DatedValue[]): Promise<void> {
  const receivedAtMs = parts.now();
  const changed = await parts.stores.observations.save(stream, provider, values, { receivedAtMs, backfilled: false });
  if (changed > 0) await parts.stores.memory.forget(stream);
}

/** When the next value of the series to become public can be asked for. */
export function afterPublication(series: SeriesId, nowMs: number): number {
  return nextPublication(series, nowMs - PUBLICATION_GRACE_MS) + PUBLICATION_GRACE_MS;
}

function tooOld(series: SeriesId, values: readonly DatedValue[], today: Day): string | null {
  const newest = values.reduce((latest, { day }) => Math.max(latest, day), Number.NEGATIVE_INFINITY);
  if (today - newest <= SERIES[series].staleDays) return null;
  return Number.isFinite(newest) ? `its newest value of ${series} is of ${formatDay(newest)}` : `it has no recent value of ${series}`;
}
