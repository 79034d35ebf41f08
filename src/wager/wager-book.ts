import type { Collection, Db } from 'mongodb';
import { type Day, formatDay } from '../forecast/day.ts';
import { OracleError } from '../platform/errors.ts';
import { isDuplicateKey } from '../platform/mongo.ts';
import { OUTBOX_INDEX, type OutboxEntry } from '../platform/outbox.ts';
import type { ReachedInstant } from '../platform/time/trusted-time.ts';
import type { FeedbackHeader } from './feedback-header.ts';
import { compareHeadToHead, type HeadToHead, type SettledComparison } from './head-to-head.ts';
import type { Side } from './sizing.ts';
import type { BookDepth, ExchangeListing, Quote, StrikeMarket, Venue } from './venue.ts';

/**
 * DECIDED: sized, about to be placed. PLACED: filled. WIN, LOSS: settled. SKIPPED: nothing staked, with the reason; its market is still
 * settled, because the comparison with the market needs every day, not only those with a stake.
 */
export type WagerState = 'DECIDED' | 'PLACED' | 'WIN' | 'LOSS' | 'SKIPPED';

const TRANSITIONS: Record<WagerState, readonly WagerState[]> = {
  DECIDED: ['PLACED', 'SKIPPED'],
  PLACED: ['WIN', 'LOSS'],
  WIN: [],
  LOSS: [],
  SKIPPED: [],
};

/** What is published of a wager: `placed` or `skipped` once a day, `settled` where something was staked. */
export type WagerChange = 'placed' | 'skipped' | 'settled';

/** The wager of a day. `_id` is `YYYY-MM-DD`. Amounts in micros of `asset`. */
export interface WagerDoc {
  _id: string;
  day: Day;
  state: WagerState;
  replayed: boolean;
  venue: string;
  asset: string;
  /** Null when the day had no forecast or came too late. */
  market: StrikeMarket | null;
  /** How the exchange listed the market when the wager was decided; unset for a venue of our own. */
  listing?: ExchangeListing;
  /** Without its book, which stands apart: the evidence on a wager has the prices only. */
  quote: Quote | null;
  /** What stood behind the prices; unset where the venue has no order book. */
  book?: BookDepth;
  /** Probability of YES: the model's, the market's, and what the stake was sized with. */
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
  /** Of the feedback file, written before the report is sent; unset where an earlier version reported. */
  feedbackHeader?: FeedbackHeader;
  /** Transaction that logged the outcome to the reputation registry. */
  feedbackTxHash: string | null;
  feedbackAt: Date | null;
  /** Absent where nothing was ever to be told. */
  outbox?: OutboxEntry<WagerChange>[];
}

/** A wager that stakes nothing, for a decision to fill in. */
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

export const WAGER_INDEXES = [
  {
    collection: 'wagers',
    indexes: [{ key: { day: 1 }, unique: true }, { key: { state: 1, 'market.expiresAt': 1 } }, { key: { winner: 1 } }, OUTBOX_INDEX],
  },
];

/** The wagers' own book: one document a day, changed by compare-and-set only. */
export class WagerBook {
  readonly wagers: Collection<WagerDoc>;

  constructor(db: Db) {
    this.wagers = db.collection('wagers');
  }

  findByDay(day: Day): Promise<WagerDoc | null> {
    return this.wagers.findOne({ _id: formatDay(day) });
  }

  /** Writes a day's decision, which is proven to be due, unless there is one already, and returns the one that stands. */
  async decide(doc: WagerDoc, _due: ReachedInstant): Promise<WagerDoc> {
    const decided: WagerDoc = doc.state === 'SKIPPED' ? { ...doc, outbox: [{ change: 'skipped', at: doc.decidedAt }] } : doc;
    try {
      await this.wagers.insertOne(decided);
      return decided;
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
      return (await this.findByDay(doc.day)) as WagerDoc;
    }
  }

  /** Moves a decided wager on; a second writer of the same change finds it done. @param at when it was skipped */
  transition(id: string, from: WagerState, to: 'PLACED' | 'SKIPPED', set: Partial<WagerDoc> = {}, at: Date | null = null): Promise<void> {
    return this.#transition(id, from, to, { set, at });
  }

  /** Records what a placed wager came to, once its market is proven to have expired. */
  settle(
    id: string,
    to: 'WIN' | 'LOSS',
    set: Pick<WagerDoc, 'winner' | 'payoutMicros' | 'settledAt'>,
    _expired: ReachedInstant,
  ): Promise<void> {
    return this.#transition(id, 'PLACED', to, { set, at: set.settledAt });
  }

  async #transition(id: string, from: WagerState, to: WagerState, { set, at }: { set: Partial<WagerDoc>; at: Date | null }): Promise<void> {
    if (!TRANSITIONS[from].includes(to)) throw new OracleError('ILLEGAL_TRANSITION', `Wager ${id} cannot go from ${from} to ${to}`);
    const change = toOutboxChange(to, set.placedAt ?? at);
    const publish = change === null ? {} : { $push: { outbox: change } };
    const { matchedCount } = await this.wagers.updateOne({ _id: id, state: from }, { $set: { ...set, state: to }, ...publish });
    if (matchedCount > 0) return;
    const current = await this.wagers.findOne({ _id: id });
    if (current?.state !== to) throw new OracleError('ILLEGAL_TRANSITION', `Wager ${id} is ${current?.state ?? 'missing'}, not ${from}`);
  }

  /** Wagers whose market has expired by `now` without a recorded winner, oldest first. */
  listUnsettled(now: Date): Promise<WagerDoc[]> {
    return this.wagers
      .find({ market: { $ne: null }, winner: null, state: { $ne: 'DECIDED' }, 'market.expiresAt': { $lte: now } })
      .sort({ day: 1 })
      .toArray();
  }

  /** All wagers whose market was priced when they were decided, whether anything was staked or not, oldest first. */
  listPriced(): Promise<WagerDoc[]> {
    return this.wagers
      .find({ market: { $ne: null }, qMarket: { $ne: null }, pModel: { $ne: null } }, { hint: { day: 1 } })
      .sort({ day: 1 })
      .toArray();
  }

  /** All wagers of days up to `through`, whatever became of them, oldest first. */
  listThrough(through: Day): Promise<WagerDoc[]> {
    return this.wagers
      .find({ day: { $lte: through } }, { hint: { day: 1 }, projection: { outbox: 0, listing: 0 } })
      .sort({ day: 1 })
      .toArray();
  }

  /** How many markets of days up to `through` are settled, whether anything was staked or not. */
  countSettledMarkets(through: Day): Promise<number> {
    return this.wagers.countDocuments({ winner: { $ne: null }, day: { $lte: through } }, { hint: { day: 1 } });
  }

  /** All stakes that were won or lost, oldest first. */
  listSettledStakes(): Promise<WagerDoc[]> {
    return this.wagers
      .find({ state: { $in: ['WIN', 'LOSS'] } }, { hint: { state: 1, 'market.expiresAt': 1 } })
      .sort({ day: 1 })
      .toArray();
  }

  /** The newest day whose wager is decided; null before the first. */
  async findNewestDay(): Promise<Day | null> {
    return (await this.wagers.findOne({}, { sort: { day: -1 }, projection: { day: 1 }, hint: { day: 1 } }))?.day ?? null;
  }

  /** Days whose wager was decided but, after a crash or an outage, is not known to be placed. */
  async listUnplacedDays(): Promise<Day[]> {
    const decided = await this.wagers.find({ state: 'DECIDED' }).sort({ day: 1 }).toArray();
    return decided.map(({ day }) => day);
  }

  /** Records which side won the market of a wager that staked nothing. */
  async recordWinner(id: string, winner: Side, settledAt: Date, _expired: ReachedInstant): Promise<void> {
    await this.wagers.updateOne({ _id: id, winner: null }, { $set: { winner, settledAt } });
  }

  /** Settled stakes of days up to `through` whose outcome is not in the reputation registry yet, oldest first. */
  listUnreported(through: Day): Promise<WagerDoc[]> {
    return this.wagers
      .find({ state: { $in: ['WIN', 'LOSS'] }, feedbackTxHash: null, day: { $lte: through } })
      .sort({ day: 1 })
      .toArray();
  }

  /** A reported wager, for whoever wants to check the report; null for any other. */
  findReported(date: string): Promise<WagerDoc | null> {
    return this.wagers.findOne({ _id: date, feedbackTxHash: { $ne: null } });
  }

  /** Gives an unreported wager the header of its feedback file, unless it has one, and returns the wager as it stands. */
  async prepareFeedback(wager: WagerDoc, feedbackHeader: FeedbackHeader): Promise<WagerDoc> {
    const { _id } = wager;
    await this.wagers.updateOne({ _id, feedbackTxHash: null, feedbackHeader: { $exists: false } }, { $set: { feedbackHeader } });
    return (await this.wagers.findOne({ _id })) ?? wager;
  }

  /** @param hasHeader false where the file on chain is one of an earlier version, without a header */
  async recordFeedback(id: string, feedbackTxHash: string, { at, hasHeader }: { at: Date; hasHeader: boolean }): Promise<void> {
    const unset = hasHeader ? {} : { $unset: { feedbackHeader: '' as const } };
    await this.wagers.updateOne({ _id: id }, { $set: { feedbackTxHash, feedbackAt: at }, ...unset });
  }

  /** When an outcome was last logged to the registry, or null. */
  async findLastReportedAt(): Promise<Date | null> {
    return (await this.wagers.findOne({ feedbackAt: { $ne: null } }, { sort: { feedbackAt: -1 } }))?.feedbackAt ?? null;
  }

  /** Settled stakes of days up to `through`, by outcome. */
  async countOutcomes(through: Day): Promise<{ wins: number; losses: number }> {
    const count = (state: WagerState) => this.wagers.countDocuments({ state, day: { $lte: through } });
    const [wins, losses] = await Promise.all([count('WIN'), count('LOSS')]);
    return { wins, losses };
  }

  /**
   * Model against market on every market that was quoted at one of these venues and is settled, of days up to `through`; of all days
   * unless told.
   */
  async compareWithMarket(venues: readonly string[], through: Day = Number.MAX_SAFE_INTEGER): Promise<HeadToHead> {
    const settled = await this.wagers
      .find({ winner: { $ne: null }, venue: { $in: [...venues] }, day: { $lte: through } })
      .sort({ day: 1 })
      .toArray();
    return compareHeadToHead(settled.map(toSettledComparison));
  }
}

const CHANGE_BY_STATE: Partial<Record<WagerState, WagerChange>> = { PLACED: 'placed', SKIPPED: 'skipped', WIN: 'settled', LOSS: 'settled' };

function toOutboxChange(to: WagerState, at: Date | null): OutboxEntry<WagerChange> | null {
  const change = CHANGE_BY_STATE[to];
  return change === undefined || at === null ? null : { change, at };
}

function toSettledComparison({ market, pModel, qMarket, winner }: WagerDoc): SettledComparison {
  return { marketId: market!.id, pModel: pModel!, qMarket: qMarket!, winner: winner! };
}
