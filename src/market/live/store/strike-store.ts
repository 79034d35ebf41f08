import type { Collection, Db } from 'mongodb';
import { isDuplicateKey } from '../../../platform/mongo.ts';
import type { StrikeSnapshot } from '../../strikes.ts';

/** What changes from one look at a market to the next; the expiry is here, too, for the query. */
type StrikeQuote = Pick<StrikeSnapshot, 'expiresAtMs' | 'bid' | 'ask' | 'lastPrice' | 'bids' | 'asks' | 'providerAtMs' | 'receivedAtMs'>;
/** What hardly ever changes: repeated in every snapshot it would be most of the database. */
type StrikeTerms = Omit<StrikeSnapshot, Exclude<keyof StrikeQuote, 'expiresAtMs'>>;

/** `_id` is the market and the minute of its reception. */
type StrikeSnapshotDoc = StrikeQuote & { _id: string; market: string };
/** `_id` is venue and market; `toldAtMs` is when it was last seen, so that late writers change nothing. */
type StrikeMarketDoc = StrikeTerms & { _id: string; toldAtMs: number };

const SNAPSHOTS = 'strike_snapshots';
const MARKETS = 'strike_markets';

export const STRIKE_INDEXES = [{ collection: SNAPSHOTS, indexes: [{ key: { receivedAtMs: 1 } }] }];

/** What prediction markets asked for each strike, minute by minute: venues do not keep past odds, so none are overwritten. */
export class StrikeStore {
  readonly #snapshots: Collection<StrikeSnapshotDoc>;
  readonly #markets: Collection<StrikeMarketDoc>;

  constructor(db: Db) {
    this.#snapshots = db.collection(SNAPSHOTS);
    this.#markets = db.collection(MARKETS);
  }

  /** Of several snapshots of a market in one minute the first is kept; of a market's terms the newest are. */
  async save(snapshots: readonly StrikeSnapshot[]): Promise<void> {
    if (snapshots.length === 0) return;
    // Markets first: a snapshot without its market could not be read.
    await this.#saveMarkets(snapshots.map(toMarketDoc));
    await writeUnlessDuplicate(this.#snapshots.insertMany(snapshots.map(toSnapshotDoc), { ordered: false }));
  }

  /**
   * The newest snapshot of each market received at or before `atMs` and not longer than `maxAgeMs` before; expired ones are left
   * out. Prices are those of the snapshot, terms such as the tick size the newest known.
   */
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

  /** Not joined in the database: the embedded engine cannot run every plan of a join. */
  async #marketsOf(quotes: readonly StrikeSnapshotDoc[]): Promise<Map<string, StrikeTerms>> {
    const docs = await this.#markets.find({ _id: { $in: quotes.map(({ market }) => market) } }).toArray();
    return new Map(docs.map(({ _id, toldAtMs, ...market }) => [_id, market]));
  }

  async #saveMarkets(marketDocs: readonly StrikeMarketDoc[], upsert = true): Promise<void> {
    const writes = marketDocs.map(({ _id, ...terms }) => ({
      updateOne: { filter: { _id, toldAtMs: { $lt: terms.toldAtMs } }, update: { $set: terms }, upsert },
    }));
    const done = await writeUnlessDuplicate(this.#markets.bulkWrite(writes, { ordered: false }));
    // What is there already is newer; or another process has just inserted older terms.
    if (!done) await this.#saveMarkets(marketDocs, false);
  }
}

/** False when a unique index refused one of the writes. */
async function writeUnlessDuplicate(write: Promise<unknown>): Promise<boolean> {
  try {
    await write;
    return true;
  } catch (error) {
    if (!isDuplicateKey(error)) throw error;
    return false;
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
