import type { SeriesId } from '../../series/series.ts';
import { getFirstDay } from '../collect/day-ranges.ts';
import { toFlowStreams } from '../collect/etf-poll.ts';
import { fetchWithFallback } from '../collect/fetch-with-fallback.ts';
import { fetchRange, type SeriesPlan } from '../collect/series-poll.ts';
import { getLastClosedDay } from '../collect/venues/agree-on-closes.ts';
import type { EtfSource, SeriesSource } from '../sources/source.ts';
import type { BackfillItem } from './run-backfill.ts';
import { type BackfillDeps, saveHistory } from './save-history.ts';

export function createSeriesItem(series: SeriesId, { sources }: SeriesPlan, deps: BackfillDeps): BackfillItem {
  const today = getLastClosedDay(deps.now()) + 1;
  return {
    id: series,
    from: Math.min(...sources.map((source) => getFirstDay(source, today))),
    to: today,
    pageDays: Math.max(...sources.map((source) => source.pageDays)),
    required: false,
    async fetch(range) {
      const reaching = sources.filter((source) => getFirstDay(source, today) <= range.from);
      const candidates = reaching.length > 0 ? reaching : sources;
      const query = { fetchFrom: (source: SeriesSource) => fetchRange(source, range, deps, today) };
      await fetchWithFallback(candidates, query, ({ provider, value }) => saveHistory(deps, series, provider, value));
    },
  };
}

/** The flows of one source: histories differ, so no source completes another. */
export function createEtfItem(source: EtfSource, deps: BackfillDeps): BackfillItem {
  const today = getLastClosedDay(deps.now()) + 1;
  const from = getFirstDay(source, today);
  return {
    id: `etfFlow/${source.provider}`,
    from,
    to: today,
    pageDays: today - from + 1,
    required: false,
    async fetch(range) {
      const days = await source.fetch(deps.providers[source.provider], range);
      for (const [stream, values] of toFlowStreams(days)) await saveHistory(deps, stream, source.provider, values);
    },
  };
}
