import { type Day, toDay, toInstantMs } from '../../../src/forecast/day.ts';
import type { Feed, SpotPrice, VenueClose } from '../../../src/market/feed.ts';
import type { FrameObservations } from '../../../src/market/inputs.ts';
import { getPublicationMs, type Observations, SERIES_IDS, type SeriesId, sliceKnownAt } from '../../../src/market/series.ts';

/** A series from `[day, value]` pairs, known at its usual hour unless `availableAt` says otherwise. */
export function buildObservations(
  id: SeriesId,
  pairs: [Day, number][],
  availableAt = (day: Day) => getPublicationMs(id, day),
): Observations {
  return {
    source: `test ${id}`,
    days: Int32Array.from(pairs, ([day]) => day),
    values: Float64Array.from(pairs, ([, value]) => value),
    availableAt: Float64Array.from(pairs, ([day]) => availableAt(day)),
  };
}

/** One value a day, from `first` to `last`. */
export function buildDailyPairs(first: Day, last: Day, value: (day: Day) => number = (day) => day): [Day, number][] {
  return Array.from({ length: last - first + 1 }, (_, index) => [first + index, value(first + index)]);
}

export function buildFrameObservations(overrides: Partial<FrameObservations>): FrameObservations {
  const empty = buildObservations('gold', []);
  return {
    close: empty,
    fearGreed: empty,
    realizedPrice: empty,
    takerBuyFraction: empty,
    fundingRate: empty,
    gold: empty,
    pmi: empty,
    high: empty,
    low: empty,
    etfFlow: empty,
    sp500: empty,
    dxy: empty,
    ...overrides,
  };
}

export interface MemoryFeed extends Feed {
  /** Names of the methods called so far. */
  readonly calls: string[];
}

/** A feed from arrays, whose parts a test may replace. */
export function createMemoryFeed(series: Partial<Record<SeriesId, Observations>>, overrides: Partial<Feed> = {}): MemoryFeed {
  const all = Object.fromEntries(SERIES_IDS.map((id) => [id, series[id] ?? buildObservations(id, [])])) as Record<SeriesId, Observations>;
  const closes = all.btcClose;
  const calls: string[] = [];
  const feed: MemoryFeed = {
    calls,
    kind: 'live',
    source: 'memory',
    coverage: async () => ({ firstDay: closes.days[0], lastDay: closes.days.at(-1) ?? null }),
    observations: async (id, atMs) => sliceKnownAt(all[id], atMs),
    async spot(atMs): Promise<SpotPrice> {
      calls.push('spot');
      return { priceUsd: 1000 + toDay(atMs), observedAtMs: atMs, source: 'memory', change24hPct: null };
    },
    rangeSoFar: async () => null,
    async dailyCloses(day, atMs): Promise<VenueClose[]> {
      calls.push('dailyCloses');
      const open = atMs < toInstantMs(day + 1);
      return ['a', 'b', 'c'].map((venue) => ({ venue, priceUsd: open ? null : closes.values[day - closes.days[0]] }));
    },
    fundFlows: async () => ({}),
    strikes: async () => [],
    nextChangeAt: async (_, atMs) => atMs + 60_000,
    providerHealth: async () => [],
    ...overrides,
  };
  return feed;
}
