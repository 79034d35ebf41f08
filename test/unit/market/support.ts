import { type Day, dayOf, instantOf } from '../../../src/forecast/day.ts';
import type { Feed, SpotPrice, VenueClose } from '../../../src/market/feed.ts';
import type { FrameObservations } from '../../../src/market/frame.ts';
import { knownAt, type Observations } from '../../../src/market/observations.ts';
import { publishedAt, SERIES_IDS, type SeriesId } from '../../../src/market/series.ts';

/** A series from `[day, value]` pairs, known at its usual hour unless `availableAt` says otherwise. */
export function observationsOf(id: SeriesId, pairs: [Day, number][], availableAt = (day: Day) => publishedAt(id, day)): Observations {
  return {
    source: `test ${id}`,
    days: Int32Array.from(pairs, ([day]) => day),
    values: Float64Array.from(pairs, ([, value]) => value),
    availableAt: Float64Array.from(pairs, ([day]) => availableAt(day)),
  };
}

/** One value a day, from `first` to `last`. */
export function everyDay(first: Day, last: Day, value: (day: Day) => number = (day) => day): [Day, number][] {
  return Array.from({ length: last - first + 1 }, (_, index) => [first + index, value(first + index)]);
}

export function frameObservations(parts: Partial<FrameObservations>): FrameObservations {
  const empty = observationsOf('gold', []);
  return {
    close: empty,
    fearGreed: empty,
    realizedPrice: empty,
    takerBuyFraction: empty,
    fundingRate: empty,
    gold: empty,
    pmi: empty,
    etfFlow: empty,
    sp500: empty,
    dxy: empty,
    ...parts,
  };
}

export interface MemoryFeed extends Feed {
  /** Names of the methods called so far. */
  readonly calls: string[];
}

/** A feed from arrays, whose parts a test may replace. */
export function memoryFeed(series: Partial<Record<SeriesId, Observations>>, parts: Partial<Feed> = {}): MemoryFeed {
  const all = Object.fromEntries(SERIES_IDS.map((id) => [id, series[id] ?? observationsOf(id, [])])) as Record<SeriesId, Observations>;
  const closes = all.btcClose;
  const calls: string[] = [];
  const feed: MemoryFeed = {
    calls,
    kind: 'live',
    source: 'memory',
    coverage: async () => ({ firstDay: closes.days[0], lastDay: closes.days.at(-1) ?? null }),
    observations: async (id, atMs) => knownAt(all[id], atMs),
    async spot(atMs): Promise<SpotPrice> {
      calls.push('spot');
      return { priceUsd: 1000 + dayOf(atMs), observedAtMs: atMs, source: 'memory', change24hPct: null };
    },
    async dailyCloses(day, atMs): Promise<VenueClose[]> {
      calls.push('dailyCloses');
      const open = atMs < instantOf(day + 1);
      return ['a', 'b', 'c'].map((venue) => ({ venue, priceUsd: open ? null : closes.values[day - closes.days[0]] }));
    },
    fundFlows: async () => ({}),
    strikes: async () => [],
    nextChangeAt: async (_, atMs) => atMs + 60_000,
    providers: async () => [],
    ...parts,
  };
  return feed;
}
