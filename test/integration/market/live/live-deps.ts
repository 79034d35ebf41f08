import { OracleError } from '../../../../src/errors.ts';
import { type Day, toDay, toInstantMs } from '../../../../src/forecast/day.ts';
import type { PriceRange } from '../../../../src/market/feed.ts';
import type { BackfillDeps } from '../../../../src/market/live/live-market.ts';
import { PROVIDER_IDS, type Provider, type ProviderId } from '../../../../src/market/live/provider.ts';
import { LIVE_INDEXES, openLiveStores } from '../../../../src/market/live/store.ts';
import { QUORUM_RULES } from '../../../../src/market/quorum.ts';
import type { DailyCandle, DatedValue, DayRange, SeriesSource, VenueSource } from '../../../../src/market/sources/source.ts';
import { createLog } from '../../../../src/platform/log.ts';
import { ensureIndexes } from '../../../../src/platform/mongo.ts';
import { type TestDatabase, testDatabase } from '../../../support/database/database.ts';

/** A source with scripted values. */
export interface ScriptedSource extends SeriesSource {
  /** Requested ranges. */
  asked: DayRange[];
  /** Value of a day; null without one. */
  getValue: (day: Day) => number | null;
  /** Message of the error to throw; null to return values. */
  failure: string | null;
}

export function createScriptedSource(provider: ProviderId, getValue: ScriptedSource['getValue'], pageDays = 1_000): ScriptedSource {
  const source: ScriptedSource = {
    provider,
    history: { from: '2015-01-01' },
    pageDays,
    asked: [],
    getValue,
    failure: null,
    async fetch(_provider, range) {
      source.asked.push(range);
      if (source.failure !== null) throw new OracleError('FEED_UNAVAILABLE', `${provider}: ${source.failure}`);
      return buildValues(range, source.getValue);
    },
  };
  return source;
}

export interface ScriptedVenue extends VenueSource {
  getClose: (day: Day) => number | null;
  /** Range of a finished day around its close. */
  getRange: (day: Day, closeUsd: number) => PriceRange | null;
  /** The running candle; null without one. */
  running: DailyCandle | null;
  /** Requested ranges of candles. */
  asked: DayRange[];
  price: { priceUsd: number; providerAtMs: number | null } | null;
}

export function createScriptedVenue(
  provider: ProviderId,
  closeOf: ScriptedVenue['getClose'],
  history: VenueSource['history'],
): ScriptedVenue {
  const venue: ScriptedVenue = {
    provider,
    history,
    pageDays: 300,
    getClose: closeOf,
    getRange: (_day, closeUsd) => ({ highUsd: closeUsd * 1.02, lowUsd: closeUsd * 0.98 }),
    running: null,
    asked: [],
    price: null,
    async fetchCandles(_provider, range) {
      venue.asked.push(range);
      const finished = buildValues(range, venue.getClose).map(({ day, value }) => buildCandle(day, value, venue.getRange(day, value)));
      const running = venue.running !== null && venue.running.day >= range.from && venue.running.day <= range.to ? [venue.running] : [];
      const candles = [...finished, ...running];
      if (candles.length === 0) throw new OracleError('FEED_UNAVAILABLE', `${provider}: no candles`);
      return candles;
    },
    async fetchTicker() {
      if (venue.price === null) throw new OracleError('FEED_UNAVAILABLE', `${provider}: does not answer`);
      return { ...venue.price, change24hPct: 1 };
    },
  };
  return venue;
}

export function buildCandle(day: Day, closeUsd: number, range: PriceRange | null, isFinished = true): DailyCandle {
  return { day, closeUsd, range, isFinished, providerAtMs: toInstantMs(day + 1) };
}

function buildValues({ from, to }: DayRange, getValue: (day: Day) => number | null): DatedValue[] {
  const values: DatedValue[] = [];
  for (let day = from; day <= to; day++) {
    const value = getValue(day);
    if (value !== null) values.push({ day, value, providerAtMs: toInstantMs(day) });
  }
  return values;
}

/** Live stores on an empty database, with a settable clock and captured log lines. */
export async function createLiveDeps(venues: ProviderId[] = []) {
  const database: TestDatabase = await testDatabase();
  await ensureIndexes(database.db, LIVE_INDEXES);
  const clock = { ms: 0 };
  const lines: { level: number; msg: string; feed?: string }[] = [];
  const log = createLog({ level: 'info', secrets: [], write: (line) => lines.push(JSON.parse(line)) });
  const now = () => clock.ms;
  // Scripted sources send no request; only the clock of a provider is read.
  const skewMs: Partial<Record<ProviderId, number>> = {};
  const health = (id: ProviderId) => ({ title: id, health: () => ({ clockSkewMs: skewMs[id] ?? null }) });
  const providers = Object.fromEntries(PROVIDER_IDS.map((id) => [id, health(id)])) as unknown as Record<ProviderId, Provider>;
  const openStores = () => openLiveStores(database.db, now);
  const deps = (): BackfillDeps => ({
    stores: openStores(),
    providers,
    now,
    venues,
    quorum: QUORUM_RULES.live,
    windowStart: toDay(clock.ms) - 40,
  });
  return { database, clock, lines, log, now, parts: deps, skewMs };
}
