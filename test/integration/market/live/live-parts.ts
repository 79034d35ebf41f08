import { OracleError } from '../../../../src/errors.ts';
import type { Day } from '../../../../src/forecast/day.ts';
import { dayOf, instantOf } from '../../../../src/forecast/day.ts';
import { createLog } from '../../../../src/log.ts';
import type { BackfillParts } from '../../../../src/market/live/backfill/items.ts';
import type { Provider } from '../../../../src/market/live/provider.ts';
import { PROVIDER_IDS, type ProviderId } from '../../../../src/market/live/providers.ts';
import type { DatedValue, DayRange, SeriesSource, VenueSource } from '../../../../src/market/live/source.ts';
import { LIVE_INDEXES, openLiveStores } from '../../../../src/market/live/stores.ts';
import { QUORUM_RULES } from '../../../../src/market/quorum.ts';
import { ensureIndexes } from '../../../../src/mongo.ts';
import { type TestDatabase, testDatabase } from '../../../support/database.ts';

/** A source whose answers a test decides. */
export interface ScriptedSource extends SeriesSource {
  /** Ranges it was asked for. */
  asked: DayRange[];
  /** What it tells of a day; null for nothing. */
  tells: (day: Day) => number | null;
  /** What it throws instead of answering. */
  failure: string | null;
}

export function scriptedSource(provider: ProviderId, tells: ScriptedSource['tells'], pageDays = 1_000): ScriptedSource {
  const source: ScriptedSource = {
    provider,
    history: { from: '2015-01-01' },
    pageDays,
    asked: [],
    tells,
    failure: null,
    async fetch(_provider, range) {
      source.asked.push(range);
      if (source.failure !== null) throw new OracleError('FEED_UNAVAILABLE', `${provider}: ${source.failure}`);
      return valuesOf(range, source.tells);
    },
  };
  return source;
}

export interface ScriptedVenue extends VenueSource {
  closeOf: (day: Day) => number | null;
  price: { priceUsd: number; providerAtMs: number | null } | null;
}

export function scriptedVenue(provider: ProviderId, closeOf: ScriptedVenue['closeOf'], history: VenueSource['history']): ScriptedVenue {
  const venue: ScriptedVenue = {
    provider,
    history,
    pageDays: 300,
    closeOf,
    price: null,
    async closes(_provider, range) {
      const values = valuesOf(range, venue.closeOf);
      if (values.length === 0) throw new OracleError('FEED_UNAVAILABLE', `${provider}: no candles`);
      return values;
    },
    async ticker() {
      if (venue.price === null) throw new OracleError('FEED_UNAVAILABLE', `${provider}: does not answer`);
      return { ...venue.price, change24hPct: 1 };
    },
  };
  return venue;
}

function valuesOf({ from, to }: DayRange, tells: (day: Day) => number | null): DatedValue[] {
  const values: DatedValue[] = [];
  for (let day = from; day <= to; day++) {
    const value = tells(day);
    if (value !== null) values.push({ day, value, providerAtMs: instantOf(day) });
  }
  return values;
}

/** Live stores on an empty database, with a clock that the test moves and the lines that were logged. */
export async function liveParts(venues: ProviderId[] = []) {
  const database: TestDatabase = await testDatabase();
  await ensureIndexes(database.db, LIVE_INDEXES);
  const clock = { ms: 0 };
  const lines: { level: number; msg: string; feed?: string }[] = [];
  const log = createLog({ level: 'info', secrets: [], write: (line) => lines.push(JSON.parse(line)) });
  const now = () => clock.ms;
  // Scripted sources ask no provider; of its health only the clock is read.
  const skewMs: Partial<Record<ProviderId, number>> = {};
  const health = (id: ProviderId) => ({ title: id, health: () => ({ clockSkewMs: skewMs[id] ?? null }) });
  const providers = Object.fromEntries(PROVIDER_IDS.map((id) => [id, health(id)])) as unknown as Record<ProviderId, Provider>;
  const openStores = () => openLiveStores(database.db, now);
  const parts = (): BackfillParts => ({
    stores: openStores(),
    providers,
    now,
    venues,
    quorum: QUORUM_RULES.live,
    windowStart: dayOf(clock.ms) - 40,
  });
  return { database, clock, lines, log, now, parts, skewMs };
}
