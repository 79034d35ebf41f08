import type { Collection, Db } from 'mongodb';
import { type Address, type Hex, isAddressEqual } from 'viem';
import { toLowerCaseAddress } from '../chain/addresses.ts';
import { type Chain, REORG_MARGIN_BLOCKS, readConfirmedBlockNumber } from '../chain/client.ts';
import { type FeedbackEvent, type GivenFeedback, readFeedbackEvents } from '../chain/erc8004.ts';
import { type BlockRange, readBlockTime } from '../chain/rpc.ts';
import { ignoreDuplicate, insertOrFind } from '../platform/mongo.ts';
import { sanitizeText } from '../platform/validation.ts';
import type { Ledger } from './ledger.ts';

/** Exclusive position `before`; null: from the newest. */
type FeedbackPage = { paid: boolean; limit: number; before: number | null };

export type ClientFeedback = ReturnType<typeof createClientFeedback>;

/** Feedback of clients other than the operator's reporter, as collected from the chain. */
export function createClientFeedback(deps: CollectFeedbackDeps) {
  const { agent, store } = deps;
  return {
    /** Continues where the last run ended. @throws OracleError CHAIN_UNREACHABLE */
    collect: () => collectFeedback(deps),
    /** Null before the first run. */
    findState: () => store.findState(agent),
    list: (page: FeedbackPage) => store.list(agent, page),
  };
}

interface FeedbackPayment {
  /** Given after a payment to the service that no earlier feedback of the client stands for. */
  paid: boolean;
  /** Block time of the feedback; null without a payment. */
  at: Date | null;
}

/** Feedback of a client other than the reporter. Addresses and hashes in lower case, texts sanitized. */
interface ClientFeedbackDoc extends FeedbackPayment {
  /** `<agent key>:<client>:<index>`. */
  _id: string;
  agent: string;
  client: Address;
  /** Counts the feedback of a client from 1, as decimal text. */
  index: string;
  /** int128 as decimal text, in units of 10^-valueDecimals. */
  value: string;
  valueDecimals: number;
  /** Quality from 0 to 100 of feedback with the tag `starred`; null for other feedback. */
  stars: number | null;
  tag1: string;
  tag2: string;
  /** Null for one that is too long or neither https nor IPFS. Never fetched. */
  feedbackUri: string | null;
  feedbackHash: Hex;
  /** Position on chain: grows with block and log. */
  position: number;
  block: number;
  revoked: boolean;
  /** Position of its revocation on chain; unset by earlier versions. */
  revokedAt?: number;
}

interface PaidFigures {
  count: number;
  clients: number;
  revoked: number;
  /** Mean of `stars`; null without feedback of that tag. */
  averageStars: number | null;
}

type FeedbackCounts = Record<FeedbackEvent['kind'], number>;

/** What is known of an agent's feedback up to a block. */
interface FeedbackStateDoc {
  _id: string;
  block: number;
  /** Feedback without a payment; only the newest of it is kept. */
  unpaid: FeedbackCounts;
  paid: PaidFigures;
  /** The part of `unpaid` up to the block after which blocks are read again; unset by earlier versions, which read none again. */
  settled?: Pick<FeedbackStateDoc, 'block' | 'unpaid'>;
}

export const CLIENT_FEEDBACK_INDEXES = [
  {
    collection: 'client_feedback',
    indexes: [
      { key: { agent: 1, paid: 1, position: -1 } },
      { key: { agent: 1, client: 1, paid: 1, position: 1 } },
      { key: { agent: 1, position: 1 } },
      { key: { agent: 1, revokedAt: 1 } },
    ],
  },
];

/** Costs its clients only gas, so it is bounded here. */
export const MAX_UNPAID_KEPT = 1_000;

const VALID_STARS = { $cond: ['$revoked', null, '$stars'] };

/** By client first, since a list of all clients could exceed the size of a document. */
const buildPaidPipeline = (agent: string) => [
  { $match: { agent, paid: true } },
  {
    $group: {
      _id: '$client',
      valid: { $sum: { $cond: ['$revoked', 0, 1] } },
      all: { $sum: 1 },
      stars: { $sum: VALID_STARS },
      rated: { $sum: { $cond: [{ $eq: [VALID_STARS, null] }, 0, 1] } },
    },
  },
  {
    $group: {
      _id: null,
      count: { $sum: '$valid' },
      clients: { $sum: { $cond: [{ $gt: ['$valid', 0] }, 1, 0] } },
      all: { $sum: '$all' },
      stars: { $sum: '$stars' },
      rated: { $sum: '$rated' },
    },
  },
];

/** More than a block has. */
const LOGS_PER_BLOCK = 1_000_000;

function toPositions({ from, to }: BlockRange) {
  return { $gte: from * LOGS_PER_BLOCK, $lt: (to + 1) * LOGS_PER_BLOCK };
}

export class ClientFeedbackStore {
  readonly feedback: Collection<ClientFeedbackDoc>;
  readonly states: Collection<FeedbackStateDoc>;

  constructor(db: Db) {
    this.feedback = db.collection('client_feedback');
    this.states = db.collection('client_feedback_states');
  }

  findState(agent: string): Promise<FeedbackStateDoc | null> {
    return this.states.findOne({ _id: agent });
  }

  /** Feedback whose event is in a block range. */
  listRange(agent: string, range: BlockRange): Promise<ClientFeedbackDoc[]> {
    return this.feedback.find({ agent, position: toPositions(range) }).toArray();
  }

  /** Stores feedback and returns what is stored: of concurrent runs the first counts, and an event that has moved replaces the one before. */
  async put(doc: ClientFeedbackDoc): Promise<ClientFeedbackDoc> {
    const stored = await insertOrFind(this.feedback, doc);
    if (stored.position === doc.position && stored.feedbackHash === doc.feedbackHash) return stored;
    await this.feedback.replaceOne({ _id: doc._id }, doc);
    return doc;
  }

  /** Removes feedback and revocations of a range whose events a reorganisation has taken away; returns whether there were any. */
  async removeVanished(agent: string, range: BlockRange, ids: Record<FeedbackEvent['kind'], string[]>): Promise<boolean> {
    const position = toPositions(range);
    const { deletedCount } = await this.feedback.deleteMany({ agent, position, _id: { $nin: ids.given } });
    const { modifiedCount } = await this.feedback.updateMany(
      { agent, revokedAt: position, _id: { $nin: ids.revoked } },
      { $set: { revoked: false }, $unset: { revokedAt: '' } },
    );
    return deletedCount + modifiedCount > 0;
  }

  /** Returns whether the feedback stands for a payment; false for one that is not kept. */
  async revoke(_id: string, position: number): Promise<boolean> {
    return (await this.feedback.findOneAndUpdate({ _id }, { $set: { revoked: true, revokedAt: position } }))?.paid === true;
  }

  countPaidBefore(agent: string, client: Address, position: number): Promise<number> {
    return this.feedback.countDocuments({ agent, client, paid: true, position: { $lt: position } });
  }

  async pruneUnpaid(agent: string): Promise<void> {
    const oldest = await this.feedback.findOne({ agent, paid: false }, { sort: { position: -1 }, skip: MAX_UNPAID_KEPT });
    if (oldest !== null) await this.feedback.deleteMany({ agent, paid: false, position: { $lte: oldest.position } });
  }

  async readPaidFigures(agent: string): Promise<PaidFigures> {
    type Sums = { count: number; clients: number; all: number; stars: number; rated: number };
    const [sums] = await this.feedback.aggregate<Sums>(buildPaidPipeline(agent)).toArray();
    if (sums === undefined) return { count: 0, clients: 0, revoked: 0, averageStars: null };
    const { count, clients, all, stars, rated } = sums;
    return { count, clients, revoked: all - count, averageStars: rated === 0 ? null : stars / rated };
  }

  /** Compare-and-set of the block up to which feedback is known; false when another process was first. */
  async advance(agent: string, from: number | null, state: Omit<FeedbackStateDoc, '_id'>): Promise<boolean> {
    if (from === null) return (await this.states.insertOne({ _id: agent, ...state }).catch(ignoreDuplicate)) !== null;
    return (await this.states.updateOne({ _id: agent, block: from }, { $set: state })).modifiedCount === 1;
  }

  /** Newest first. */
  list(agent: string, { paid, limit, before }: FeedbackPage): Promise<ClientFeedbackDoc[]> {
    const filter = { agent, paid, ...(before !== null && { position: { $lt: before } }) };
    return this.feedback.find(filter).sort({ position: -1 }).limit(limit).toArray();
  }
}

/** Bounds the work of a run: the next one continues. */
const MAX_STEPS_PER_RUN = 20;

/**
 * Reads feedback up to the confirmation depth. The newest blocks are read and counted again by each run, so that feedback which a
 * reorganisation or a node that was behind had hidden is found, and what a reorganisation has taken away no longer counts. May run in any
 * number of processes, or be interrupted. @throws OracleError CHAIN_UNREACHABLE
 */
async function collectFeedback(deps: CollectFeedbackDeps): Promise<void> {
  const { chain, store, agent, agentId } = deps;
  const last = Number(await readConfirmedBlockNumber(chain));
  const state = await store.findState(agent);
  if (state !== null && state.block >= last) return;
  let settled = state === null ? { block: (await deps.findFirstBlock()) - 1, unpaid: NONE } : (state.settled ?? state);
  let cursor = state?.block ?? null;
  let paid = state?.paid;
  let recent: UnpaidEvent[] = [];
  let steps = 0;
  for await (const { events, ...range } of readFeedbackEvents(chain, agentId, { from: settled.block + 1, to: last })) {
    const { unpaid, isChanged } = await recordRange(deps, range, events);
    recent.push(...unpaid);
    if (isChanged || paid === undefined) paid = await store.readPaidFigures(agent);
    // Blocks that an earlier run has read count with the first new ones.
    if (cursor !== null && range.to <= cursor) continue;
    const next = settle(settled, recent, range.to);
    const changes: Omit<FeedbackStateDoc, '_id'> = { block: range.to, paid, unpaid: sumUnpaid(settled.unpaid, recent), settled: next };
    if (!(await store.advance(agent, cursor, changes))) return;
    [cursor, settled, recent] = [range.to, next, recent.filter(({ block }) => block > next.block)];
    steps += 1;
    if (steps === MAX_STEPS_PER_RUN) return;
  }
}

const NONE: FeedbackCounts = { given: 0, revoked: 0 };

/** Feedback without a payment, or its revocation. */
type UnpaidEvent = { block: number; kind: FeedbackEvent['kind'] };

function sumUnpaid({ given, revoked }: FeedbackCounts, events: readonly UnpaidEvent[]): FeedbackCounts {
  const count = (of: FeedbackEvent['kind']) => events.filter(({ kind }) => kind === of).length;
  return { given: given + count('given'), revoked: revoked + count('revoked') };
}

/** Moves on to the block up to which nothing is read again. */
function settle({ block, unpaid }: Pick<FeedbackStateDoc, 'block' | 'unpaid'>, recent: readonly UnpaidEvent[], readTo: number) {
  const settledTo = Math.max(block, readTo - REORG_MARGIN_BLOCKS);
  const deep = recent.filter((event) => event.block <= settledTo);
  return { block: settledTo, unpaid: sumUnpaid(unpaid, deep) };
}

/** Idempotent: makes the stored feedback of a range that of its events. Returns the feedback without a payment, which is counted, not kept. */
async function recordRange(deps: CollectFeedbackDeps, range: BlockRange, events: readonly FeedbackEvent[]) {
  const { store, agent, reporter } = deps;
  const classify = createFeedbackClassifier(deps);
  const others = events.filter(({ client }) => !isAddressEqual(client, reporter));
  const known = new Map((await store.listRange(agent, range)).map((doc) => [doc._id, doc]));
  const unpaid: UnpaidEvent[] = [];
  let isChanged = await store.removeVanished(agent, range, {
    given: others.filter(({ kind }) => kind === 'given').map((event) => buildFeedbackId(agent, event)),
    revoked: others.filter(({ kind }) => kind === 'revoked').map((event) => buildFeedbackId(agent, event)),
  });
  for (const event of others) {
    const { kind, blockNumber } = event;
    const id = buildFeedbackId(agent, event);
    if (kind === 'revoked') {
      const isPaid = await store.revoke(id, getFeedbackPosition(event));
      isChanged ||= isPaid;
      if (!isPaid) unpaid.push({ kind, block: Number(blockNumber) });
      continue;
    }
    const stored = known.get(id);
    const isKnown = stored !== undefined && isSameEvent(stored, toFeedbackDoc(agent, event, stored));
    const { paid } = isKnown ? stored : await store.put(toFeedbackDoc(agent, event, await classify(event)));
    isChanged ||= !isKnown;
    if (!paid) unpaid.push({ kind, block: Number(blockNumber) });
  }
  if (unpaid.some(({ kind }) => kind === 'given')) await store.pruneUnpaid(agent);
  return { unpaid, isChanged };
}

/** A reorganisation may have given the number of a feedback to another one. */
function isSameEvent(stored: ClientFeedbackDoc, read: ClientFeedbackDoc): boolean {
  const fields = ['position', 'value', 'valueDecimals', 'tag1', 'tag2', 'feedbackUri', 'feedbackHash'] as const;
  return fields.every((field) => stored[field] === read[field]);
}

const UNPAID: FeedbackPayment = { paid: false, at: null };
const MAX_COUNTED_PAYMENTS = 10_000;

/**
 * Feedback is backed by a payment when its client had paid the service before, more often than it had given such feedback: each one
 * costs a payment. What its file claims is not read, since the client names its URL. Lookups are shared within a run.
 */
function createFeedbackClassifier({ chain, ledger, store, agent }: CollectFeedbackDeps) {
  const payers = new Map<Address, Promise<number>>();
  const blockTimes = new Map<bigint, Promise<Date>>();
  return async (event: GivenFeedback): Promise<FeedbackPayment> => {
    const client = toLowerCaseAddress(event.client);
    const known = payers.get(client) ?? ledger.countPayments(client, { max: 1 });
    payers.set(client, known);
    if ((await known) === 0) return UNPAID;
    const time = blockTimes.get(event.blockNumber) ?? readBlockTime(chain, event.blockNumber);
    blockTimes.set(event.blockNumber, time);
    const at = await time;
    const [payments, earlier] = await Promise.all([
      ledger.countPayments(client, { through: at, max: MAX_COUNTED_PAYMENTS }),
      store.countPaidBefore(agent, client, getFeedbackPosition(event)),
    ]);
    return earlier < payments ? { paid: true, at } : UNPAID;
  };
}

interface CollectFeedbackDeps {
  chain: Chain;
  agent: string;
  agentId: number;
  /** Its feedback is read elsewhere, as the operator's own. */
  reporter: Address;
  store: ClientFeedbackStore;
  ledger: Pick<Ledger, 'countPayments'>;
  /** First block to read, asked for once. */
  findFirstBlock(): Promise<number>;
}

const MAX_TAG_CHARS = 40;
const MAX_URI_CHARS = 300;

/** Key of an agent in the database. */
export function buildAgentKey({ chainId, addresses }: Pick<Chain, 'chainId' | 'addresses'>, agentId: number): string {
  return `${chainId}:${toLowerCaseAddress(addresses.reputationRegistry)}:${agentId}`;
}

function buildFeedbackId(agent: string, { client, index }: Pick<FeedbackEvent, 'client' | 'index'>): string {
  return `${agent}:${toLowerCaseAddress(client)}:${index}`;
}

/** Order of events on chain. */
function getFeedbackPosition({ blockNumber, logIndex }: Pick<FeedbackEvent, 'blockNumber' | 'logIndex'>): number {
  return Number(blockNumber) * LOGS_PER_BLOCK + logIndex;
}

function toFeedbackDoc(agent: string, event: GivenFeedback, { paid, at }: FeedbackPayment): ClientFeedbackDoc {
  return {
    _id: buildFeedbackId(agent, event),
    agent,
    client: toLowerCaseAddress(event.client),
    index: event.index.toString(),
    value: event.value.toString(),
    valueDecimals: event.valueDecimals,
    stars: parseStars(event),
    tag1: sanitizeText(event.tag1, MAX_TAG_CHARS),
    tag2: sanitizeText(event.tag2, MAX_TAG_CHARS),
    feedbackUri: parseFeedbackUri(event.feedbackUri),
    feedbackHash: event.feedbackHash,
    position: getFeedbackPosition(event),
    block: Number(event.blockNumber),
    paid,
    at,
    revoked: false,
  };
}

function parseStars({ tag1, value, valueDecimals }: GivenFeedback): number | null {
  if (tag1 !== 'starred') return null;
  const stars = Number(value) / 10 ** valueDecimals;
  return stars >= 0 && stars <= 100 ? stars : null;
}

function parseFeedbackUri(text: string): string | null {
  if (text.length > MAX_URI_CHARS || !URL.canParse(text)) return null;
  const { protocol, href } = new URL(text);
  return (protocol === 'https:' || protocol === 'ipfs:') && href.length <= MAX_URI_CHARS ? href : null;
}
