import canonicalize from 'canonicalize';
import type { Collection, Db, Filter, FindOptions } from 'mongodb';
import { keccak256, toHex } from 'viem';
import { OracleError } from '../errors.ts';
import { type Day, formatDay } from '../forecast/day.ts';
import { meanBy } from '../forecast/math.ts';
import { boundedLogLoss } from '../forecast/signal.ts';
import { createOutboxEntry, insertOrFind, isFirstWrite, LARGE_READ_BATCH, OUTBOX_INDEX, type OutboxEntry } from '../platform/mongo.ts';
import type { ReachedInstant } from '../platform/time.ts';
import type { Side } from './sizing.ts';
import type { BookDepth, ExchangeListing, Quote, StrikeMarket, Venue } from './venue.ts';

/** Totals of the wagers at one venue in one asset. Amounts in micros of the asset. */
type WagerAccount = ReturnType<typeof buildWagerAccount>;
export type AccountedWager = Pick<WagerDoc, 'day' | 'venue' | 'asset' | 'state' | 'costMicros' | 'payoutMicros'>;

/** Profit in micros: 0 for skipped wagers, null until settled. */
export function computeProfitMicros(wager: Pick<AccountedWager, 'state' | 'costMicros' | 'payoutMicros'>): number | null {
  if (wager.state === 'SKIPPED') return 0;
  return isSettled(wager) ? (wager.payoutMicros ?? 0) - wager.costMicros : null;
}

/** Accounts by venue and asset, sorted alphabetically. Expects wagers oldest first. */
export function buildWagerAccounts(wagers: readonly AccountedWager[]): WagerAccount[] {
  const groups = Map.groupBy(wagers, ({ venue, asset }) => JSON.stringify([venue, asset]));
  return [...groups].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, members]) => buildWagerAccount(members));
}

function buildWagerAccount(wagers: readonly AccountedWager[]) {
  const [{ venue, asset }] = wagers;
  const settled = wagers.filter(isSettled);
  const open = wagers.filter(({ state }) => state === 'PLACED' || state === 'DECIDED');
  const count = (wanted: WagerDoc['state']) => wagers.filter(({ state }) => state === wanted).length;
  const stakedMicros = sumMicros(settled.map(({ costMicros }) => costMicros));
  const returnedMicros = sumMicros(settled.map(({ payoutMicros }) => payoutMicros ?? 0));
  let profitMicros = 0;
  // Cumulative, oldest first.
  const profitByDay = settled.map((wager) => {
    profitMicros += computeProfitMicros(wager)!;
    return { day: wager.day, profitMicros };
  });
  return {
    venue,
    asset,
    wins: count('WIN'),
    losses: count('LOSS'),
    voids: count('VOID'),
    open: open.length,
    skipped: count('SKIPPED'),
    stakedMicros,
    returnedMicros,
    profitMicros: returnedMicros - stakedMicros,
    openMicros: sumMicros(open.map(({ costMicros }) => costMicros)),
    profitByDay,
  };
}

export function isSettled({ state }: Pick<AccountedWager, 'state'>): boolean {
  return state === 'WIN' || state === 'LOSS' || state === 'VOID';
}

function sumMicros(micros: number[]): number {
  return micros.reduce((total, one) => total + one, 0);
}

/** DECIDED: sized, not placed. PLACED: filled. VOID: paid a share by a market without a winner. SKIPPED: no stake, but settled, as the comparison with the market needs every day. */
type WagerState = 'DECIDED' | 'PLACED' | SettledState | 'SKIPPED';
export type SettledState = (typeof SETTLED_STATES)[number];
const SETTLED_STATES = ['WIN', 'LOSS', 'VOID'] as const;
const TRANSITIONS: Partial<Record<WagerState, readonly WagerState[]>> = { DECIDED: ['PLACED', 'SKIPPED'], PLACED: SETTLED_STATES };
/** `placed` or `skipped` once a day, `settled` for stakes; of `changed` only other processes learn. */
export type WagerChange = 'placed' | 'skipped' | 'settled' | 'changed';

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
  /** Why it was staked: an edge after costs, or the minimum stake of every day; unset for skipped and older wagers. */
  basis?: 'edge' | 'minimum';
  contracts: number;
  costMicros: number;
  limitCostMicros: number;
  decidedAt: Date;
  skippedBecause: string | null;
  placedAt: Date | null;
  /** Null until the market has ended, and where it did so without one: `settledAt` distinguishes them. */
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

const pushChanged = () => ({ $push: { outbox: createOutboxEntry('changed' as const, new Date()) } });

/** Wagers: one document a day, changed by compare-and-set only. */
export class WagerBook {
  readonly wagers: Collection<WagerDoc>;
  readonly #note: (id: string) => Promise<void>;

  /** @param known takes over what is written */
  constructor(db: Db, known?: { note(part: 'wagers', ids: string[]): Promise<void> }) {
    this.wagers = db.collection('wagers');
    this.#note = async (id) => known?.note('wagers', [id]);
  }

  findByDay(day: Day): Promise<WagerDoc | null> {
    return this.wagers.findOne({ _id: formatDay(day) });
  }

  /** Stores a day's decision unless one exists; returns the stored one. `_due` proves that it is time. */
  async decide(doc: WagerDoc, _due: ReachedInstant): Promise<WagerDoc> {
    const change = doc.state === 'SKIPPED' ? 'skipped' : 'changed';
    const stored = await insertOrFind(this.wagers, { ...doc, outbox: [createOutboxEntry(change, doc.decidedAt)] });
    await this.#note(stored._id);
    return stored;
  }

  /** Changes the state; idempotent for a second writer. @param at time of a skip */
  transition(id: string, from: WagerState, to: 'PLACED' | 'SKIPPED', set: Partial<WagerDoc> = {}, at: Date | null = null): Promise<void> {
    return this.#transition(id, from, to, { set, at });
  }

  /** Records the result of a placed wager, once `_expired` proves that its market has expired. */
  settle(id: string, to: SettledState, set: Pick<WagerDoc, 'winner' | 'payoutMicros' | 'settledAt'>, _expired: ReachedInstant) {
    return this.#transition(id, 'PLACED', to, { set, at: set.settledAt });
  }

  async #transition(id: string, from: WagerState, to: WagerState, { set, at }: { set: Partial<WagerDoc>; at: Date | null }): Promise<void> {
    if (!TRANSITIONS[from]?.includes(to)) throw new OracleError('ILLEGAL_TRANSITION', `Wager ${id} cannot go from ${from} to ${to}`);
    const [change, changedAt] = [CHANGE_BY_STATE[to], set.placedAt ?? at];
    const push = change && changedAt ? { $push: { outbox: createOutboxEntry(change, changedAt) } } : pushChanged();
    const { matchedCount } = await this.wagers.updateOne({ _id: id, state: from }, { $set: { ...set, state: to }, ...push });
    await this.#note(id);
    if (matchedCount > 0) return;
    const current = await this.wagers.findOne({ _id: id });
    if (current?.state !== to) throw new OracleError('ILLEGAL_TRANSITION', `Wager ${id} is ${current?.state ?? 'missing'}, not ${from}`);
  }

  /** Wagers whose market has expired by `now` and whose end is not recorded, oldest first. */
  listUnsettled(now: Date): Promise<WagerDoc[]> {
    const isOpen = { winner: null, settledAt: null, state: { $ne: 'DECIDED' as const } };
    return this.#list({ market: { $ne: null }, ...isOpen, 'market.expiresAt': { $lte: now } });
  }

  async findNewestDay(): Promise<Day | null> {
    return (await this.wagers.findOne({}, { sort: { day: -1 }, projection: { day: 1 }, hint: { day: 1 } }))?.day ?? null;
  }

  /** Days with a decided wager that, after a crash or an outage, is not known to be placed. */
  async listUnplacedDays(): Promise<Day[]> {
    return (await this.#list({ state: 'DECIDED' })).map(({ day }) => day);
  }

  /** @param winner null for a market that ended without one */
  async recordWinner(id: string, winner: Side | null, settledAt: Date, _expired: ReachedInstant): Promise<void> {
    await this.wagers.updateOne({ _id: id, winner: null, settledAt: null }, { $set: { winner, settledAt }, ...pushChanged() });
    await this.#note(id);
  }

  /** Won and lost stakes of days up to `through` (default: all) without a report in the reputation registry, oldest first. */
  listUnreported(through: Day = Number.MAX_SAFE_INTEGER): Promise<WagerDoc[]> {
    return this.#list({ state: { $in: ['WIN', 'LOSS'] }, feedbackTxHash: null, day: { $lte: through } });
  }

  /** Stores the header of an unreported wager's feedback file unless it has one; returns the stored wager. */
  async prepareFeedback(wager: WagerDoc, feedbackHeader: FeedbackHeader): Promise<WagerDoc> {
    const { _id } = wager;
    const unprepared = { _id, feedbackTxHash: null, feedbackHeader: { $exists: false } };
    const update = { $set: { feedbackHeader }, ...pushChanged() };
    const prepared = await this.wagers.findOneAndUpdate(unprepared, update, { returnDocument: 'after' });
    await this.#note(_id);
    return prepared ?? (await this.wagers.findOne({ _id })) ?? wager;
  }

  /** @param hasHeader false when the hash on chain is of an earlier version's file */
  async recordFeedback(id: string, feedbackTxHash: string, { at, hasHeader }: { at: Date; hasHeader: boolean }): Promise<void> {
    const unset = hasHeader ? {} : { $unset: { feedbackHeader: '' as const } };
    await this.wagers.updateOne({ _id: id }, { $set: { feedbackTxHash, feedbackAt: at }, ...unset, ...pushChanged() });
    await this.#note(id);
  }

  /** After a reorganisation that took a report off the chain: its wager is reported again. */
  async rewindFeedback({ hash, at }: { hash: string; at: Date }): Promise<void> {
    const taken = { feedbackTxHash: hash, feedbackAt: at };
    const ids = await this.wagers.distinct('_id', taken);
    await this.wagers.updateMany(taken, { $set: { feedbackTxHash: null, feedbackAt: null }, ...pushChanged() });
    for (const id of ids) await this.#note(id);
  }

  #list(filter: Filter<WagerDoc>, options?: FindOptions): Promise<WagerDoc[]> {
    return this.wagers
      .find(filter, { batchSize: LARGE_READ_BATCH, ...options })
      .sort({ day: 1 })
      .toArray();
  }
}

const CHANGE_BY_STATE: Partial<Record<WagerState, WagerChange>> = {
  ...{ PLACED: 'placed', SKIPPED: 'skipped' },
  ...{ WIN: 'settled', LOSS: 'settled', VOID: 'settled' },
};

/** Settled markets required before the model gets any weight. */
export const MIN_SETTLED_MARKETS = 30;

/** One settled market with both probabilities of YES at the time of the wager. */
export interface SettledComparison {
  marketId: string;
  pModel: number;
  qMarket: number;
  winner: Side;
}

export const EARNED_WEIGHT = 0.5;

/** Mean log loss (natural logarithm) by the first wager of each market. The weight is 0 until the model has the lower mean log loss on 30 markets. */
/** Model against market on the settled markets of these venues. @param wagers oldest first */
export function compareSettledWagers(wagers: readonly WagerDoc[], venues: readonly string[]) {
  return compareHeadToHead(wagers.filter(({ winner, venue }) => winner !== null && venues.includes(venue)).map(toSettledComparison));
}

export function compareHeadToHead(comparisons: SettledComparison[]) {
  const firsts = [...new Map(comparisons.toReversed().map((item) => [item.marketId, item])).values()];
  const settledMarkets = firsts.length;
  if (settledMarkets === 0) return { settledMarkets, modelLogLoss: null, marketLogLoss: null, weight: 0 };
  const modelLogLoss = meanBy(firsts, ({ pModel, winner }) => boundedLogLoss(pModel, winner === 'YES'));
  const marketLogLoss = meanBy(firsts, ({ qMarket, winner }) => boundedLogLoss(qMarket, winner === 'YES'));
  const earned = settledMarkets >= MIN_SETTLED_MARKETS && modelLogLoss < marketLogLoss;
  return { settledMarkets, modelLogLoss, marketLogLoss, weight: earned ? EARNED_WEIGHT : 0 };
}

/** Requires a settled wager. */
function toSettledComparison({ market, pModel, qMarket, winner }: WagerDoc): SettledComparison {
  return { marketId: market!.id, pModel: pModel!, qMarket: qMarket!, winner: winner! };
}

export function buildEvidencePath(date: string): string {
  return `/api/svc/agent/feedback/${date}`;
}

/**
 * The off-chain feedback file (ERC-8004) of a settled wager as RFC 8785 JSON, with its keccak256. Wagers reported by earlier versions
 * have no header and no basis, so that their bytes still match the hash on chain.
 */
export function buildWagerEvidence(wager: WagerDoc) {
  const json = canonicalize(buildWagerFacts(wager)) as string;
  return { json, hash: keccak256(toHex(json)) };
}

export type WagerFacts = ReturnType<typeof buildWagerFacts>;

function buildWagerFacts(wager: WagerDoc) {
  const { _id: date, venue, asset, market, quote, pModel, qMarket, pBelieved, weight, side, basis, contracts, costMicros } = wager;
  const { state: outcome, winner, payoutMicros, placedAt, settledAt } = wager;
  return {
    ...wager.feedbackHeader,
    date,
    venue,
    asset,
    market: market && { ...market, expiresAt: market.expiresAt.toISOString() },
    quote: quote && { ...quote, at: quote.at.toISOString() },
    pModel,
    qMarket,
    pBelieved,
    weight,
    side,
    ...(basis === undefined ? {} : { basis }),
    contracts,
    costMicros,
    outcome,
    winner,
    payoutMicros,
    placedAt: placedAt?.toISOString() ?? null,
    settledAt: settledAt?.toISOString() ?? null,
  };
}

interface WagerSwitchState {
  paused: boolean;
  /** Time of the last change; null before the first. */
  since: Date | null;
  /** The operator's reason, shown on admin routes only; null while not paused. */
  reason: string | null;
}

/** Result of a change: `changed` is false when the state was already as requested. */
export interface WagerSwitchChange extends WagerSwitchState {
  changed: boolean;
}

const SWITCH_ID = 'wagers';
const INITIAL_STATE: WagerSwitchState = { paused: false, since: null, reason: null };

/** The operator's switch, shared by all processes of a database and read before each placement. */
export class WagerSwitch {
  readonly #switches: Collection<WagerSwitchState & { _id: string }>;

  constructor(db: Db) {
    this.#switches = db.collection('switches');
  }

  async getState(): Promise<WagerSwitchState> {
    const { paused, since, reason } = (await this.#switches.findOne({ _id: SWITCH_ID })) ?? INITIAL_STATE;
    return { paused, since, reason };
  }

  /** Pauses new wagers; the first of two reasons stays, with its time. */
  async pause(reason: string, since: Date): Promise<WagerSwitchChange> {
    const change = { $set: { paused: true, since, reason } };
    // A paused switch does not match, so the upsert violates the key of the only document.
    return this.#toChange(await isFirstWrite(this.#switches.updateOne({ _id: SWITCH_ID, paused: false }, change, { upsert: true })));
  }

  async resume(at: Date): Promise<WagerSwitchChange> {
    const change = { $set: { paused: false, since: at, reason: null } };
    const { modifiedCount } = await this.#switches.updateOne({ _id: SWITCH_ID, paused: true }, change);
    return this.#toChange(modifiedCount === 1);
  }

  async #toChange(changed: boolean): Promise<WagerSwitchChange> {
    return { ...(await this.getState()), changed };
  }
}
