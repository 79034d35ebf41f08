import type { Collection, Db, Filter, FindOptions } from 'mongodb';
import { type Day, formatDay } from '../forecast/day.ts';
import { Revision } from '../platform/concurrency/revision.ts';
import { OracleError } from '../platform/errors.ts';
import { insertOrFind } from '../platform/insert-or-find.ts';
import { LARGE_READ_BATCH } from '../platform/mongo.ts';
import { createOutboxEntry, OUTBOX_INDEX, type OutboxEntry } from '../platform/outbox.ts';
import type { ReachedInstant } from '../platform/time/trusted-time.ts';
import { compareHeadToHead, type HeadToHead } from './head-to-head.ts';
import { COMPARED_FIELDS, type ComparedWager, SettledComparisons } from './settled-comparisons.ts';
import type { Side } from './sizing.ts';
import type { BookDepth, ExchangeListing, Quote, StrikeMarket, Venue } from './venue.ts';

/** DECIDED: sized, not placed. PLACED: filled. SKIPPED: no stake, but settled, as the comparison with the market needs every day. */
export type WagerState = 'DECIDED' | 'PLACED' | 'WIN' | 'LOSS' | 'SKIPPED';
const TRANSITIONS: Partial<Record<WagerState, readonly WagerState[]>> = { DECIDED: ['PLACED', 'SKIPPED'], PLACED: ['WIN', 'LOSS'] };
/** Published changes: `placed` or `skipped` once a day, `settled` for stakes. */
export type WagerChange = 'placed' | 'skipped' | 'settled';

/** Required members of an off-chain feedback file (ERC-8004). */
interface FeedbackHeader {
  /** `eip155:<chain id>:<address of the identity registry>`. */
  agentRegistry: string;
  agentId: number;
  /** Author of the feedback, CAIP-10. */
  clientAddress: string;
  /** ISO 8601. */
  createdAt: string;
  /** In units of 10^-valueDecimals. */
  value: number;
  valueDecimals: number;
}

/** The wager of a day; `_id` is `YYYY-MM-DD`. Amounts in micros of `asset`. */
export interface WagerDoc {
  _id: string;
  day: Day;
  state: WagerState;
  replayed: boolean;
  venue: string;
  asset: string;
  /** Null without a timely forecast. */
  market: StrikeMarket | null;
  /** Listing at the time of the decision; unset for the paper venue. */
  listing?: ExchangeListing;
  /** Without `book`, as the evidence contains only the prices. */
  quote: Quote | null;
  /** Unset for a venue without an order book. */
  book?: BookDepth;
  /** Probability of YES: the model's, the market's, and the blend used for sizing. */
  pModel: number | null;
  qMarket: number | null;
  pBelieved: number | null;
  weight: number;
  side: Side | null;
  contracts: number;
  costMicros: number;
  limitCostMicros: number;
  decidedAt: Date;
  skippedBecause: string | null;
  placedAt: Date | null;
  winner: Side | null;
  payoutMicros: number | null;
  settledAt: Date | null;
  /** Stored before the report is sent; unset for reports of earlier versions. */
  feedbackHeader?: FeedbackHeader;
  feedbackTxHash: string | null;
  feedbackAt: Date | null;
  /** Absent without a published change. */
  outbox?: OutboxEntry<WagerChange>[];
}

/** A wager without a stake, to be completed by the decision. */
export function buildUndecidedWager(venue: Pick<Venue, 'name' | 'asset'>, day: Day, decidedAt: Date): WagerDoc {
  return {
    _id: formatDay(day),
    day,
    state: 'SKIPPED',
    replayed: false,
    venue: venue.name,
    asset: venue.asset,
    market: null,
    quote: null,
    pModel: null,
    qMarket: null,
    pBelieved: null,
    weight: 0,
    side: null,
    contracts: 0,
    costMicros: 0,
    limitCostMicros: 0,
    decidedAt,
    skippedBecause: null,
    placedAt: null,
    winner: null,
    payoutMicros: null,
    settledAt: null,
    feedbackTxHash: null,
    feedbackAt: null,
  };
}

/** Wagers are public at an instant if they are settled, and of a day through which all forecasts are public. */
export interface Publicity {
  at: Date;
  throughDay: Day;
}

export const WAGER_INDEXES = [
  {
    collection: 'wagers',
    indexes: [
      { key: { day: 1 }, unique: true },
      { key: { state: 1, 'market.expiresAt': 1 } },
      { key: { winner: 1 } },
      { key: { settledAt: 1 } },
      { key: { feedbackAt: -1 } },
      OUTBOX_INDEX,
    ],
  },
];

/** Wagers: one document a day, changed by compare-and-set only. */
export class WagerBook {
  readonly wagers: Collection<WagerDoc>;
  /** Advances with every write that changes figures of the wagers. */
  readonly revision: Revision;
  readonly #comparisons: SettledComparisons;

  constructor(db: Db) {
    this.wagers = db.collection('wagers');
    this.#comparisons = new SettledComparisons((venues, after) => this.#listCompared(venues, after));
    this.revision = new Revision(db, { collection: 'record_meta', _id: 'wagers-revision' });
  }

  findByDay(day: Day): Promise<WagerDoc | null> {
    return this.wagers.findOne({ _id: formatDay(day) });
  }

  /** Stores a day's decision unless one exists; returns the stored one. `_due` proves that it is time. */
  async decide(doc: WagerDoc, _due: ReachedInstant): Promise<WagerDoc> {
    const decided: WagerDoc = doc.state === 'SKIPPED' ? { ...doc, outbox: [createOutboxEntry('skipped', doc.decidedAt)] } : doc;
    return this.revision.advanceAfter(insertOrFind(this.wagers, decided));
  }

  /** Changes the state; idempotent for a second writer. @param at time of a skip */
  transition(id: string, from: WagerState, to: 'PLACED' | 'SKIPPED', set: Partial<WagerDoc> = {}, at: Date | null = null): Promise<void> {
    return this.#transition(id, from, to, { set, at });
  }

  /** Records the result of a placed wager, once `_expired` proves that its market has expired. */
  settle(
    id: string,
    to: 'WIN' | 'LOSS',
    set: Pick<WagerDoc, 'winner' | 'payoutMicros' | 'settledAt'>,
    _expired: ReachedInstant,
  ): Promise<void> {
    return this.#transition(id, 'PLACED', to, { set, at: set.settledAt });
  }

  async #transition(id: string, from: WagerState, to: WagerState, { set, at }: { set: Partial<WagerDoc>; at: Date | null }): Promise<void> {
    if (!TRANSITIONS[from]?.includes(to)) throw new OracleError('ILLEGAL_TRANSITION', `Wager ${id} cannot go from ${from} to ${to}`);
    const [change, changedAt] = [CHANGE_BY_STATE[to], set.placedAt ?? at];
    const publish = change && changedAt ? { $push: { outbox: createOutboxEntry(change, changedAt) } } : {};
    const write = this.wagers.updateOne({ _id: id, state: from }, { $set: { ...set, state: to }, ...publish });
    const { matchedCount } = await this.revision.advanceAfter(write);
    if (matchedCount > 0) return;
    const current = await this.wagers.findOne({ _id: id });
    if (current?.state !== to) throw new OracleError('ILLEGAL_TRANSITION', `Wager ${id} is ${current?.state ?? 'missing'}, not ${from}`);
  }

  /** Wagers whose market has expired by `now` without a recorded winner, oldest first. */
  listUnsettled(now: Date): Promise<WagerDoc[]> {
    return this.#list({ market: { $ne: null }, winner: null, state: { $ne: 'DECIDED' }, 'market.expiresAt': { $lte: now } });
  }

  /** Wagers with a quoted market, with or without a stake, oldest first. */
  listPriced(): Promise<WagerDoc[]> {
    return this.#list({ market: { $ne: null }, qMarket: { $ne: null }, pModel: { $ne: null } }, { hint: { day: 1 } });
  }

  /** All wagers of days up to `through`, oldest first. */
  listThrough(through: Day): Promise<WagerDoc[]> {
    return this.#list({ day: { $lte: through } }, { hint: { day: 1 }, projection: { outbox: 0, listing: 0 } });
  }

  /** At most `limit` wagers of days up to `through`, newest first. */
  listNewest(through: Day, limit: number): Promise<WagerDoc[]> {
    const options = { hint: { day: 1 }, projection: { outbox: 0, listing: 0 }, limit };
    return this.wagers
      .find({ day: { $lte: through } }, options)
      .sort({ day: -1 })
      .toArray();
  }

  /** Settled stakes that were public at one instant and not at an earlier one, oldest first. */
  listSettledBetween(earlier: Publicity, later: Publicity): Promise<WagerDoc[]> {
    return this.#list({
      state: { $in: ['WIN', 'LOSS'] },
      day: { $lte: later.throughDay },
      settledAt: { $lte: later.at },
      $or: [{ day: { $gt: earlier.throughDay } }, { settledAt: { $gt: earlier.at } }],
    });
  }

  async findNewestDay(): Promise<Day | null> {
    return (await this.wagers.findOne({}, { sort: { day: -1 }, projection: { day: 1 }, hint: { day: 1 } }))?.day ?? null;
  }

  /** Days with a decided wager that, after a crash or an outage, is not known to be placed. */
  async listUnplacedDays(): Promise<Day[]> {
    return (await this.#list({ state: 'DECIDED' })).map(({ day }) => day);
  }

  async recordWinner(id: string, winner: Side, settledAt: Date, _expired: ReachedInstant): Promise<void> {
    await this.revision.advanceAfter(this.wagers.updateOne({ _id: id, winner: null }, { $set: { winner, settledAt } }));
  }

  /** Settled stakes of days up to `through` (default: all) without a report in the reputation registry, oldest first. */
  listUnreported(through: Day = Number.MAX_SAFE_INTEGER): Promise<WagerDoc[]> {
    return this.#list({ state: { $in: ['WIN', 'LOSS'] }, feedbackTxHash: null, day: { $lte: through } });
  }

  /** A reported wager, for verifiers of the report; null for others. */
  findReported(date: string): Promise<WagerDoc | null> {
    return this.wagers.findOne({ _id: date, feedbackTxHash: { $ne: null } });
  }

  /** Stores the header of an unreported wager's feedback file unless it has one; returns the stored wager. */
  async prepareFeedback(wager: WagerDoc, feedbackHeader: FeedbackHeader): Promise<WagerDoc> {
    const { _id } = wager;
    const unprepared = { _id, feedbackTxHash: null, feedbackHeader: { $exists: false } };
    const prepared = await this.wagers.findOneAndUpdate(unprepared, { $set: { feedbackHeader } }, { returnDocument: 'after' });
    return prepared ?? (await this.wagers.findOne({ _id })) ?? wager;
  }

  /** @param hasHeader false when the hash on chain is of an earlier version's file */
  async recordFeedback(id: string, feedbackTxHash: string, { at, hasHeader }: { at: Date; hasHeader: boolean }): Promise<void> {
    const unset = hasHeader ? {} : { $unset: { feedbackHeader: '' as const } };
    await this.wagers.updateOne({ _id: id }, { $set: { feedbackTxHash, feedbackAt: at }, ...unset });
  }

  async findLastReportedAt(): Promise<Date | null> {
    return (await this.wagers.findOne({ feedbackAt: { $ne: null } }, { sort: { feedbackAt: -1 } }))?.feedbackAt ?? null;
  }

  /** Model against market on the settled markets of these venues. */
  async compareWithMarket(venues: readonly string[]): Promise<HeadToHead> {
    return compareHeadToHead(await this.#comparisons.list(venues));
  }

  #listCompared(venues: readonly string[], after: Day): Promise<ComparedWager[]> {
    const filter = { day: { $gt: after }, venue: { $in: [...venues] }, market: { $ne: null } };
    return this.#list(filter, { hint: { day: 1 }, projection: COMPARED_FIELDS });
  }

  #list(filter: Filter<WagerDoc>, options?: FindOptions): Promise<WagerDoc[]> {
    return this.wagers
      .find(filter, { batchSize: LARGE_READ_BATCH, ...options })
      .sort({ day: 1 })
      .toArray();
  }
}

const CHANGE_BY_STATE: Partial<Record<WagerState, WagerChange>> = { PLACED: 'placed', SKIPPED: 'skipped', WIN: 'settled', LOSS: 'settled' };
