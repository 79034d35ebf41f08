import type { Collection, Db } from 'mongodb';
import type { Address, Hex } from 'viem';
import { insertOrFind } from '../../platform/insert-or-find.ts';
import { ignoreDuplicate } from '../../platform/mongo.ts';

export interface FeedbackPayment {
  /** Given after a payment to the service that no earlier feedback of the client stands for. */
  paid: boolean;
  /** Block time of the feedback; null without a payment. */
  at: Date | null;
}

/** Feedback of a client other than the reporter. Addresses and hashes in lower case, texts sanitized. */
export interface ClientFeedbackDoc extends FeedbackPayment {
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
}

export interface PaidFigures {
  count: number;
  clients: number;
  revoked: number;
  /** Mean of `stars`; null without feedback of that tag. */
  averageStars: number | null;
}

export interface FeedbackCounts {
  given: number;
  revoked: number;
}

/** What is known of an agent's feedback up to a block. */
export interface FeedbackStateDoc {
  _id: string;
  block: number;
  /** Feedback without a payment; only the newest of it is kept. */
  unpaid: FeedbackCounts;
  paid: PaidFigures;
}

export const CLIENT_FEEDBACK_INDEXES = [
  {
    collection: 'client_feedback',
    indexes: [{ key: { agent: 1, paid: 1, position: -1 } }, { key: { agent: 1, client: 1, paid: 1, position: 1 } }],
  },
];

/** Costs its clients only gas, so it is bounded here. */
export const MAX_UNPAID_KEPT = 1_000;

const IS_VALID = { $cond: ['$revoked', 0, 1] };
const VALID_STARS = { $cond: ['$revoked', null, '$stars'] };

/** By client first, since a list of all clients could exceed the size of a document. */
const buildPaidPipeline = (agent: string) => [
  { $match: { agent, paid: true } },
  {
    $group: {
      _id: '$client',
      valid: { $sum: IS_VALID },
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

  /** Returns the stored feedback: of a repeated run, the first counts. */
  insert(doc: ClientFeedbackDoc): Promise<ClientFeedbackDoc> {
    return insertOrFind(this.feedback, doc);
  }

  /** Returns whether the feedback stands for a payment; false for one that is not kept. */
  async revoke(_id: string): Promise<boolean> {
    return (await this.feedback.findOneAndUpdate({ _id }, { $set: { revoked: true } }))?.paid === true;
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
  async advance(agent: string, from: number | null, { block, paid, unpaid }: Omit<FeedbackStateDoc, '_id'>): Promise<boolean> {
    if (from === null) return (await this.states.insertOne({ _id: agent, block, paid, unpaid }).catch(ignoreDuplicate)) !== null;
    const $inc = { 'unpaid.given': unpaid.given, 'unpaid.revoked': unpaid.revoked };
    return (await this.states.updateOne({ _id: agent, block: from }, { $set: { block, paid }, $inc })).modifiedCount === 1;
  }

  /** Newest first. @param before exclusive position; null: from the newest */
  list(agent: string, { paid, limit, before }: { paid: boolean; limit: number; before: number | null }): Promise<ClientFeedbackDoc[]> {
    const filter = { agent, paid, ...(before !== null && { position: { $lt: before } }) };
    return this.feedback.find(filter).sort({ position: -1 }).limit(limit).toArray();
  }
}
