import type { Collection, Db } from 'mongodb';
import { OracleError } from '../../errors.ts';
import { type Day, formatDay, MINUTE_MS, parseDay, toDay } from '../../forecast/day.ts';
import { type CollectionIndexes, ignoreDuplicate, insertOrFind, isFirstWrite } from '../../platform/mongo.ts';
import type { Feed, PriceRange, StrikeSnapshot } from '../feed.ts';
import { type DailyClose, findSpotFromCloses, toVenueClose, type VenueRange } from '../quorum.ts';
import { getNextPublicationMs, isPriceSeries } from '../series.ts';
import type { DayRange } from '../sources/source.ts';
import { OBSERVATION_INDEXES, ObservationCache, ObservationStore } from './observations.ts';
import { PROVIDER_IDS, PROVIDERS, type ProviderHealth, type ProviderId, VENUE_IDS } from './provider.ts';

/** The changing part of a snapshot. The expiry is repeated for the query. */
type StrikeQuote = Pick<StrikeSnapshot, 'expiresAtMs' | 'bid' | 'ask' | 'lastPrice' | 'bids' | 'asks' | 'providerAtMs' | 'receivedAtMs'>;
/** The constant part, stored once per market to keep the database small. */
type StrikeTerms = Omit<StrikeSnapshot, Exclude<keyof StrikeQuote, 'expiresAtMs'>>;
/** `_id` is the market and the minute of reception. */
type StrikeSnapshotDoc = StrikeQuote & { _id: string; market: string };
/** `_id` is venue and market; the reception time `toldAtMs` makes late writers no-ops. */
type StrikeMarketDoc = StrikeTerms & { _id: string; toldAtMs: number };
const SNAPSHOTS = 'strike_snapshots';
const MARKETS = 'strike_markets';
export const STRIKE_INDEXES = [{ collection: SNAPSHOTS, indexes: [{ key: { receivedAtMs: 1 } }] }];

/** Quotes of strikes by the minute, never overwritten, since venues publish no past odds. */
export class StrikeStore {
  readonly #snapshots: Collection<StrikeSnapshotDoc>;
  readonly #markets: Collection<StrikeMarketDoc>;

  constructor(db: Db) {
    this.#snapshots = db.collection(SNAPSHOTS);
    this.#markets = db.collection(MARKETS);
  }

  /** Keeps the first snapshot of a market in each minute, and the newest terms of each market. */
  async save(snapshots: readonly StrikeSnapshot[]): Promise<void> {
    if (snapshots.length === 0) return;
    // Markets first: a snapshot without its market is unreadable.
    await this.#saveMarkets(snapshots.map(toMarketDoc));
    await this.#snapshots.insertMany(snapshots.map(toSnapshotDoc), { ordered: false }).catch(ignoreDuplicate);
  }

  /** The newest unexpired snapshot of each market received within `maxAgeMs` before `atMs`, with the newest known terms. */
  async latest(atMs: number, maxAgeMs: number): Promise<StrikeSnapshot[]> {
    const quotes = await this.#newestQuotes(atMs, maxAgeMs);
    // Joined in the process: the embedded engine does not run every plan of `$lookup`.
    const docs = await this.#markets.find({ _id: { $in: quotes.map(({ market }) => market) } }).toArray();
    const markets = new Map(docs.map(({ _id, toldAtMs, ...market }) => [_id, market]));
    return quotes
      .flatMap(({ _id, market, ...quote }) => {
        const known = markets.get(market);
        return known === undefined ? [] : [{ ...known, ...quote }];
      })
      .sort((a, b) => a.expiresAtMs - b.expiresAtMs || a.strikeUsd - b.strikeUsd);
  }

  async #newestQuotes(atMs: number, maxAgeMs: number): Promise<StrikeSnapshotDoc[]> {
    const newest = await this.#snapshots
      .aggregate<{ snapshot: StrikeSnapshotDoc }>([
        { $match: { receivedAtMs: { $lte: atMs, $gte: atMs - maxAgeMs }, expiresAtMs: { $gt: atMs } } },
        { $sort: { receivedAtMs: -1 } },
        { $group: { _id: '$market', snapshot: { $first: '$$ROOT' } } },
      ])
      .toArray();
    return newest.map(({ snapshot }) => snapshot);
  }

  async #saveMarkets(marketDocs: readonly StrikeMarketDoc[], upsert = true): Promise<void> {
    const writes = marketDocs.map(({ _id, ...terms }) => ({
      updateOne: { filter: { _id, toldAtMs: { $lt: terms.toldAtMs } }, update: { $set: terms }, upsert },
    }));
    // If not all were written, either the stored terms are newer, or another process has just inserted older ones.
    if (!(await isFirstWrite(this.#markets.bulkWrite(writes, { ordered: false })))) await this.#saveMarkets(marketDocs, false);
  }
}

function toMarketDoc(snapshot: StrikeSnapshot): StrikeMarketDoc {
  const { bid, ask, lastPrice, bids, asks, providerAtMs, receivedAtMs, ...market } = snapshot;
  return { _id: getMarketKey(snapshot), ...market, toldAtMs: receivedAtMs };
}

function toSnapshotDoc(snapshot: StrikeSnapshot): StrikeSnapshotDoc {
  const { expiresAtMs, bid, ask, lastPrice, bids, asks, providerAtMs, receivedAtMs } = snapshot;
  const market = getMarketKey(snapshot);
  const minute = new Date(receivedAtMs).toISOString().slice(0, 16);
  return { _id: `${market}/${minute}`, market, expiresAtMs, bid, ask, lastPrice, bids, asks, providerAtMs, receivedAtMs };
}

function getMarketKey({ venue, marketId }: StrikeSnapshot): string {
  return `${venue}/${marketId}`;
}

/** The first agreed close of each day: several forecasts and repeated steps read it, so a late venue must not change a used price. */
class CloseStore {
  readonly #closes: Collection<Omit<DailyClose, 'day'> & { _id: string }>;

  constructor(db: Db) {
    this.#closes = db.collection('daily_closes');
  }

  /** Pins a day's close unless one is pinned, and returns the pinned one. */
  async pin({ day, ...close }: DailyClose): Promise<DailyClose> {
    const { _id, ...pinned } = await insertOrFind(this.#closes, { _id: formatDay(day), ...close });
    return { day, ...pinned };
  }
}

export type LiveStores = ReturnType<typeof openLiveStores>;
export const LIVE_INDEXES: readonly CollectionIndexes[] = [...OBSERVATION_INDEXES, ...STRIKE_INDEXES];

export function openLiveStores(db: Db, now: () => number) {
  const observations = new ObservationStore(db);
  return {
    observations,
    observationCache: new ObservationCache(observations, now),
    spots: new SpotStore(db),
    ranges: new RangeStore(db),
    closes: new CloseStore(db),
    polls: new PollStore(db),
    backfills: new BackfillStore(db),
    providerHealth: new ProviderHealthStore(db),
    strikes: new StrikeStore(db),
  };
}

interface BackfillDoc {
  _id: string;
  from: Day;
  /** Last fetched day; initially `from - 1`. */
  through: Day;
  done: boolean;
}

/** Backfill progress, so that an interrupted backfill resumes. */
export class BackfillStore {
  readonly #docs: Collection<BackfillDoc>;

  constructor(db: Db) {
    this.#docs = db.collection('feed_backfills');
  }

  /** Creates the progress unless it exists, and returns it. */
  async begin(id: string, from: Day): Promise<BackfillDoc> {
    const first = { $setOnInsert: { from, through: from - 1, done: false } };
    return (await this.#docs.findOneAndUpdate({ _id: id }, first, { upsert: true, returnDocument: 'after' })) as BackfillDoc;
  }

  async advance(id: string, through: Day): Promise<void> {
    await this.#docs.updateOne({ _id: id }, { $max: { through } });
  }

  /** Records a page that another item fetched, unless an earlier page is missing. */
  async advanceAlong(id: string, { from, to }: DayRange): Promise<void> {
    await this.#docs.updateOne({ _id: id, through: from - 1 }, { $set: { through: to } });
  }

  async finish(id: string): Promise<void> {
    await this.#docs.updateOne({ _id: id }, { $set: { done: true } });
  }

  async countDone(ids: string[]): Promise<number> {
    return this.#docs.countDocuments({ _id: { $in: ids }, done: true });
  }

  async isComplete(): Promise<boolean> {
    return (await this.#docs.countDocuments({ done: false })) === 0;
  }
}

interface PollDoc {
  _id: string;
  nextAtMs: number;
  /** Last success (ms); null before the first. */
  okAtMs: number | null;
  failures: number;
  /** Message of the last failure; null after a success. */
  error: string | null;
}

/** The durable schedule of all polls, shared by all workers. */
export class PollStore {
  readonly #polls: Collection<PollDoc>;

  constructor(db: Db) {
    this.#polls = db.collection('feed_polls');
  }

  /**
   * Acquires the lease of a due poll; false when it is not due or another worker holds it. One that is put off for longer than `maxWaitMs` is
   * due: a clock that ran ahead has dated it.
   */
  async claim(id: string, nowMs: number, { leaseMs, maxWaitMs }: { leaseMs: number; maxWaitMs: number }): Promise<boolean> {
    const change = { $set: { nextAtMs: nowMs + leaseMs }, $setOnInsert: { okAtMs: null, failures: 0, error: null } };
    // A poll that is not due does not match, so the upsert violates the key of its document.
    const isDue = { $or: [{ nextAtMs: { $lte: nowMs } }, { nextAtMs: { $gt: nowMs + maxWaitMs } }] };
    return isFirstWrite(this.#polls.updateOne({ _id: id, ...isDue }, change, { upsert: true }));
  }

  async release(id: string, nextAtMs: number): Promise<void> {
    await this.#polls.updateOne({ _id: id }, { $set: { nextAtMs } });
  }

  async succeeded(id: string, nowMs: number, nextAtMs: number): Promise<void> {
    await this.#polls.updateOne({ _id: id }, { $set: { nextAtMs, okAtMs: nowMs, failures: 0, error: null } });
  }

  /** Records a failure with the delay of the next attempt. @returns consecutive failures */
  async failed(id: string, error: string, nextAtMs: (failures: number) => number): Promise<number> {
    const known = await this.#polls.findOneAndUpdate({ _id: id }, { $inc: { failures: 1 }, $set: { error } }, { returnDocument: 'after' });
    const failures = known?.failures ?? 1;
    await this.#polls.updateOne({ _id: id }, { $set: { nextAtMs: nextAtMs(failures) } });
    return failures;
  }

  async find(id: string): Promise<PollDoc | null> {
    return this.#polls.findOne({ _id: id });
  }
}

type ProviderHealthDoc = Omit<ProviderHealth, 'provider'> & { _id: ProviderId };

/** Provider health as last saved by the calling process. */
export class ProviderHealthStore {
  readonly #docs: Collection<ProviderHealthDoc>;
  readonly #saved = new Map<ProviderId, string>();

  constructor(db: Db) {
    this.#docs = db.collection('provider_health');
  }

  /** Writes only changes since this process's last save. */
  async save(healths: readonly ProviderHealth[]): Promise<void> {
    const changed = healths.filter((health) => this.#saved.get(health.provider) !== JSON.stringify(health));
    if (changed.length === 0) return;
    const writes = changed.map(({ provider: _id, ...health }) => ({ replaceOne: { filter: { _id }, replacement: health, upsert: true } }));
    await this.#docs.bulkWrite(writes, { ordered: false });
    for (const health of changed) this.#saved.set(health.provider, JSON.stringify(health));
  }

  /** In the order of `PROVIDERS`. */
  async read(): Promise<ProviderHealth[]> {
    const docs = await this.#docs.find().toArray();
    // An earlier version saved no counts of rows.
    const counts = { rowsLeftOut: 0, lastLeftOutAtMs: null, lastLeftOut: null };
    const byId = new Map(docs.map(({ _id, ...health }) => [_id, { provider: _id, ...counts, ...health }]));
    return PROVIDER_IDS.flatMap((id) => byId.get(id) ?? []);
  }
}

/** The agreed range of a running UTC day. `_id` is the number of minutes since 1970. */
interface RangeDoc extends PriceRange {
  _id: number;
  day: Day;
  receivedAtMs: number;
  /** As received, outliers included. */
  venues: VenueRange[];
}
/** An older range lacks the last price moves. */
const MAX_AGE_MS = 15 * MINUTE_MS;

class RangeStore {
  readonly #ranges: Collection<RangeDoc>;

  constructor(db: Db) {
    this.#ranges = db.collection('running_ranges');
  }

  /** Keeps the first range of a minute. */
  async save(range: Omit<RangeDoc, '_id'>): Promise<void> {
    const _id = Math.floor(range.receivedAtMs / MINUTE_MS);
    await this.#ranges.updateOne({ _id }, { $setOnInsert: range }, { upsert: true });
  }

  /** The last range received at or before an instant; null without one of its UTC day and of the last 15 minutes. */
  async findAt(atMs: number): Promise<PriceRange | null> {
    const latest = { _id: { $lte: Math.floor(atMs / MINUTE_MS) }, receivedAtMs: { $lte: atMs } };
    const found = await this.#ranges.findOne(latest, { sort: { _id: -1 } });
    if (found === null || found.day !== toDay(atMs) || atMs - found.receivedAtMs > MAX_AGE_MS) return null;
    return { highUsd: found.highUsd, lowUsd: found.lowUsd };
  }
}

/** The median price of one minute. `_id` is the number of minutes since 1970. */
export interface SpotDoc {
  _id: number;
  priceUsd: number;
  /** The oldest time of a venue's price (ms). */
  observedAtMs: number;
  receivedAtMs: number;
  change24hPct: number | null;
  venues: { venue: string; priceUsd: number; observedAtMs: number }[];
}

class SpotStore {
  readonly #prices: Collection<SpotDoc>;

  constructor(db: Db) {
    this.#prices = db.collection('spot_prices');
  }

  /** Keeps the first price of a minute. */
  async save(price: Omit<SpotDoc, '_id'>): Promise<void> {
    const _id = Math.floor(price.receivedAtMs / MINUTE_MS);
    await this.#prices.updateOne({ _id }, { $setOnInsert: price }, { upsert: true });
  }

  /** The last price received at or before an instant; null without one. */
  async findAt(atMs: number): Promise<SpotDoc | null> {
    return this.#prices.findOne({ _id: { $lte: Math.floor(atMs / MINUTE_MS) }, receivedAtMs: { $lte: atMs } }, { sort: { _id: -1 } });
  }
}

/** Bitstamp's first daily candle, the start of all live data. */
export const FIRST_LIVE_DAY: Day = parseDay('2011-08-18');
const MAX_STRIKE_AGE_MS = 24 * 3_600_000;

/** The collected market data, identical in every process. The spot price before the first collected one derives from daily closes. */
export function openLiveFeed(stores: LiveStores, venues: readonly ProviderId[] = VENUE_IDS): Feed {
  const { observationCache, spots, ranges, polls, providerHealth, strikes } = stores;
  const observations: Feed['observations'] = async (series, atMs, vintage = 'first') => {
    const history = await observationCache.getHistory(series);
    return vintage === 'first' ? history.getFirstVersions(atMs) : history.getLatestVersions(atMs);
  };

  return {
    kind: 'live',
    source: 'live',
    async coverage() {
      const { days } = await observations('btcClose', Number.MAX_SAFE_INTEGER);
      return { firstDay: days[0] ?? FIRST_LIVE_DAY, lastDay: null };
    },
    observations,
    async spot(atMs) {
      const collected = await spots.findAt(atMs);
      if (collected === null) {
        const price = findSpotFromCloses(await observations('btcClose', Number.MAX_SAFE_INTEGER), atMs);
        if (price !== null) return { ...price, source: 'daily closes' };
        throw new OracleError('PRICE_UNAVAILABLE', `No price was collected at or before ${new Date(atMs).toISOString()}`);
      }
      const { priceUsd, observedAtMs, change24hPct } = collected;
      const names = collected.venues.map(({ venue }) => venue);
      return { priceUsd, observedAtMs, change24hPct, source: names.length === 1 ? names[0] : `median of ${names.join(', ')}` };
    },
    rangeSoFar: (atMs) => ranges.findAt(atMs),
    async dailyCloses(day, atMs) {
      const known = (await observationCache.getHistory('venueClose')).getFinalValues(day, atMs);
      return venues.map((venue) => {
        const missingReason = `${PROVIDERS[venue].title} has not published its close of ${formatDay(day)}`;
        return toVenueClose(venue, { day, atMs, priceUsd: known.get(venue) ?? null, missingReason });
      });
    },
    async fundFlows(atMs) {
      const streams = await stores.observations.listFundStreams();
      const flows = await Promise.all(streams.map(async (stream) => (await observationCache.getHistory(stream)).getLatestVersions(atMs)));
      return Object.fromEntries(streams.map((stream, index) => [stream.slice('fundFlow.'.length), flows[index]]));
    },
    historyRevision: () => observationCache.getRevision(),
    strikes: (atMs) => strikes.latest(atMs, MAX_STRIKE_AGE_MS),
    /** The next poll of the series or price; it may bring nothing new. */
    async nextChangeAt(what, atMs) {
      if (what === 'spot') return (Math.floor(atMs / MINUTE_MS) + 1) * MINUTE_MS;
      const next = (await polls.find(isPriceSeries(what) ? 'closes' : what))?.nextAtMs ?? getNextPublicationMs(what, atMs);
      return Math.max(next, atMs + MINUTE_MS);
    },
    providerHealth: () => providerHealth.read(),
  };
}
