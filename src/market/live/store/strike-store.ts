import type { Collection, Db } from 'mongodb';
import { ignoreDuplicate, isFirstWrite } from '../../../platform/mongo.ts';
import type { StrikeSnapshot } from '../../strikes.ts';

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
    const markets = await this.#marketsOf(quotes);
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

  /** Joined in the process: the embedded engine does not run every plan of `$lookup`. */
  async #marketsOf(quotes: readonly StrikeSnapshotDoc[]): Promise<Map<string, StrikeTerms>> {
    const docs = await this.#markets.find({ _id: { $in: quotes.map(({ market }) => market) } }).toArray();
    return new Map(docs.map(({ _id, toldAtMs, ...market }) => [_id, market]));
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
