import type { Collection, Db } from 'mongodb';
import { type Address, type Hash, zeroAddress } from 'viem';
import { toLowerCaseAddress } from '../../chain/addresses.ts';
import type { JobEvent, OnChainJob } from '../../chain/erc8183.ts';
import type { ErrorCode } from '../../errors.ts';
import { DAY_MS } from '../../forecast/day.ts';
import { ignoreDuplicate } from '../../platform/mongo.ts';
import type { SignedReceipt } from '../receipts.ts';

export const JOB_INDEXES = [
  {
    collection: 'agent_jobs',
    indexes: [
      { key: { contract: 1, jobId: 1 }, unique: true },
      { key: { funded: -1, due: 1 } },
      { key: { unpaidBy: 1 }, sparse: true },
      { key: { 'onChain.client': 1 } },
      { key: { 'submission.at': 1 } },
      { key: { 'onChain.evaluator': 1, 'onChain.state': 1, notedAt: 1 } },
    ],
  },
];

const WITHOUT_TEXT = { projection: { 'delivery.text': 0 } } as const;
const IMMEDIATELY = new Date(0);
const FRESH_MS = 3_600_000;
/** Longer than any pause between two checks, or two posts. */
const MAX_WAIT_MS = 2 * 3_600_000;
/** A job has about eight events; a client can make more of them, whose repetition costs a check. */
const MAX_EVENT_IDS = 50;
const POSTING_PERIOD_MS = 7 * DAY_MS;

export class JobStore {
  readonly jobs: Collection<JobDoc>;
  readonly cursors: Collection<{ _id: string; block: number }>;

  constructor(db: Db) {
    this.jobs = db.collection('agent_jobs');
    this.cursors = db.collection('agent_commerce');
  }

  /** Last block whose events are recorded; null before the first. */
  async getCursor(contract: Address): Promise<number | null> {
    return (await this.cursors.findOne({ _id: contract.toLowerCase() }))?.block ?? null;
  }

  /** Compare-and-set of the cursor: no effect when another process moved it first. */
  async moveCursor(contract: Address, from: number | null, to: number): Promise<void> {
    const _id = contract.toLowerCase();
    if (from === null) await this.cursors.insertOne({ _id, block: to }).catch(ignoreDuplicate);
    else await this.cursors.updateOne({ _id, block: from }, { $set: { block: to } });
  }

  /** Idempotent: an event that is recorded already makes no job due again. */
  async recordEvents(contract: Address, events: readonly JobEvent[], now: Date): Promise<void> {
    const byJob = Map.groupBy(events, ({ jobId }) => buildJobKey(contract, jobId));
    const fields = { projection: { _id: 1, eventIds: 1 }, hint: '_id_' } as const;
    const known = await this.jobs.find<Pick<JobDoc, '_id' | 'eventIds'>>({ _id: { $in: [...byJob.keys()] } }, fields).toArray();
    const eventIdsByJob = new Map(known.map(({ _id, eventIds = [] }) => [_id, eventIds]));
    for (const { jobId, blockNumber } of events.filter(({ assigned }) => assigned)) {
      const _id = buildJobKey(contract, jobId);
      if (eventIdsByJob.has(_id)) continue;
      await this.jobs.insertOne(createJobDoc(contract, jobId, { block: Number(blockNumber), now })).catch(ignoreDuplicate);
      eventIdsByJob.set(_id, []);
    }
    for (const [_id, eventIds] of eventIdsByJob) {
      const fresh = byJob.get(_id)!.filter(({ id }) => !eventIds.includes(id));
      if (fresh.length === 0) continue;
      const isFunded = fresh.some(({ funded }) => funded);
      await this.jobs.updateOne(
        { _id },
        {
          $max: { lastEventBlock: Math.max(...fresh.map(({ blockNumber }) => Number(blockNumber))) },
          $set: { due: IMMEDIATELY, ...(isFunded && { funded: true }) },
          $push: { eventIds: { $each: fresh.map(({ id }) => id), $slice: -MAX_EVENT_IDS } },
        },
      );
    }
  }

  /** Due jobs, funded ones first: a client can create any number of unfunded offers for free. */
  async listDue(now: Date, limit: number): Promise<JobDocWithoutText[]> {
    // Put off by a clock that ran ahead.
    const postponed = { funded: { $in: [true, false] }, due: { $gt: new Date(now.getTime() + MAX_WAIT_MS) } };
    await this.jobs.updateMany(postponed, { $set: { due: now } }, { hint: { funded: -1, due: 1 } });
    return this.jobs
      .find({ due: { $lte: now } }, { ...WITHOUT_TEXT, hint: { funded: -1, due: 1 } })
      .sort({ funded: -1, due: 1 })
      .limit(limit)
      .toArray();
  }

  /**
   * Deliveries of the last days that a marketplace has not taken and that are due for an attempt, oldest first. Of jobs without an evaluator
   * only paid ones: they are paid with their submission, or never.
   */
  listUnposted(contract: Address, now: Date, limit: number): Promise<JobDoc[]> {
    const isPutOff = { $gt: now, $lte: new Date(now.getTime() + MAX_WAIT_MS) };
    const isDue = { 'posting.postedAt': null, 'posting.due': { $not: isPutOff } };
    const since = new Date(now.getTime() - POSTING_PERIOD_MS);
    const isJudged = { 'onChain.state': 'SUBMITTED' as const, 'onChain.evaluator': { $ne: zeroAddress } };
    const isReadable = { $or: [{ 'onChain.state': 'COMPLETED' as const }, isJudged] };
    const filter = { contract: toLowerCaseAddress(contract), 'submission.at': { $gt: since }, ...isDue, ...isReadable };
    return this.jobs
      .find(filter, { hint: { 'submission.at': 1 } })
      .sort({ 'submission.at': 1 })
      .limit(limit)
      .toArray();
  }

  find(contract: Address, jobId: bigint): Promise<JobDocWithoutText | null> {
    return this.jobs.findOne<JobDocWithoutText>({ _id: buildJobKey(contract, jobId) }, WITHOUT_TEXT);
  }

  /** The deliverable once its hash is on chain, otherwise null. */
  async findSubmittedDelivery(contract: Address, jobId: bigint): Promise<JobDelivery | null> {
    const doc = await this.jobs.findOne({ _id: buildJobKey(contract, jobId) });
    return doc?.submission ? doc.delivery : null;
  }

  /** Stores the state at a block; never overwrites the state of a later block. */
  async setOnChainState(_id: string, { state, client, evaluator, budget, expiresAt }: OnChainJob, block: number): Promise<void> {
    const parties = { client: toLowerCaseAddress(client), evaluator: toLowerCaseAddress(evaluator) };
    const onChain = { block, state, ...parties, budget: budget.toString(), expiresAt };
    await this.jobs.updateOne({ _id, 'onChain.block': { $not: { $gt: block } } }, { $set: { onChain } });
  }

  /** Stores facts that are identical in every process. */
  async update(_id: string, facts: Partial<JobDoc>): Promise<void> {
    await this.jobs.updateOne({ _id }, { $set: facts });
  }

  /** Stores the decision unless another process decided first; returns whether the job is accepted. */
  async decide(_id: string, decision: Pick<JobDoc, 'accepted' | 'reason' | 'offering' | 'ref'>): Promise<boolean> {
    await this.jobs.updateOne({ _id, accepted: null }, { $set: decision });
    return (await this.jobs.findOne({ _id }, WITHOUT_TEXT))?.accepted === true;
  }

  /** Revokes the acceptance; returns false when a deliverable is already stored. */
  async reject(_id: string, reason: string): Promise<boolean> {
    const { matchedCount } = await this.jobs.updateOne({ _id, delivery: null }, { $set: { accepted: false, reason } });
    return matchedCount === 1;
  }

  /** Stores the deliverable unless there is one, and returns the stored one; null for a job rejected meanwhile. */
  async saveDelivery(_id: string, delivery: JobDelivery): Promise<JobDelivery | null> {
    await this.jobs.updateOne({ _id, delivery: null, accepted: true }, { $set: { delivery } });
    return (await this.jobs.findOne({ _id }))?.delivery ?? null;
  }

  /** Stores the receipt of a payment unless it has one, and returns the stored one. */
  async saveReceipt({ _id }: Pick<JobDoc, '_id'>, receipt: SignedReceipt): Promise<SignedReceipt> {
    await this.jobs.updateOne({ _id, 'receipt.message.txHash': { $ne: receipt.message.txHash } }, { $set: { receipt } });
    return (await this.jobs.findOne({ _id }, WITHOUT_TEXT))?.receipt ?? receipt;
  }

  /** Schedules the next check after one at a block, unless a later event has scheduled it. */
  async setDue(_id: string, block: number, due: Date | null): Promise<void> {
    await this.jobs.updateOne({ _id, lastEventBlock: { $lte: block } }, { $set: { due, failures: 0, failure: null } });
  }

  async hasUnpaidDelivery({ client, evaluator }: Pick<OnChainJob, 'client' | 'evaluator'>): Promise<boolean> {
    const unpaidBy = { $in: [client, evaluator].map(toLowerCaseAddress) };
    return (await this.jobs.findOne({ unpaidBy }, { projection: { _id: 1 }, hint: { unpaidBy: 1 } })) !== null;
  }

  countOffers(client: Address, at: Date): Promise<number> {
    const isOpen = { accepted: true, 'onChain.state': 'OPEN' as const, 'onChain.expiresAt': { $gt: at } };
    return this.jobs.countDocuments({ 'onChain.client': toLowerCaseAddress(client), ...isOpen }, { hint: { 'onChain.client': 1 } });
  }

  /** Accepted jobs without an evaluator that are funded and not paid, or were created within an hour. */
  countOpenDirectJobs(at: Date): Promise<number> {
    const isFresh = { 'onChain.state': 'OPEN' as const, notedAt: { $gt: new Date(at.getTime() - FRESH_MS) } };
    const isUnpaid = { 'onChain.state': { $in: ['FUNDED' as const, 'SUBMITTED' as const] } };
    const isLive = { accepted: true, 'onChain.expiresAt': { $gt: at } };
    return this.jobs.countDocuments({ 'onChain.evaluator': zeroAddress, ...isLive, $or: [isFresh, isUnpaid] });
  }
}

function createJobDoc(contract: Address, jobId: bigint, { block, now }: { block: number; now: Date }): JobDoc {
  return {
    _id: buildJobKey(contract, jobId),
    contract: toLowerCaseAddress(contract),
    jobId: jobId.toString(),
    seenBlock: block,
    lastEventBlock: block,
    due: IMMEDIATELY,
    funded: false,
    failures: 0,
    failure: null,
    onChain: null,
    accepted: null,
    reason: null,
    offering: null,
    ref: null,
    budgetTx: null,
    delivery: null,
    submission: null,
    payment: null,
    notedAt: now,
  };
}

/** Deliverable of a job: the exact text whose hash is on chain. */
export interface JobDelivery {
  /** Canonical JSON, salted because its hash is public. */
  text: string;
  hash: Hash;
  composedAt: Date;
  forecastId: string | null;
  attestationUid: Hash | null;
}

/** A job of the provider wallet. Addresses and hashes in lower case. */
export interface JobDoc {
  _id: string;
  contract: Address;
  /** uint256 as decimal text. */
  jobId: string;
  seenBlock: number;
  lastEventBlock: number;
  /** The newest recorded events, since blocks are read again; unset before the first. */
  eventIds?: string[];
  /** Next check; null when only an event can change the state. */
  due: Date | null;
  /** The client has funded the escrow at some time; such jobs precede offers. */
  funded: boolean;
  /** Consecutive failed checks, and the code of the last one. */
  failures: number;
  failure: ErrorCode | null;
  /** State on chain at a block, with the budget as decimal text; null before the first check. */
  onChain: (Pick<OnChainJob, 'state' | 'client' | 'evaluator' | 'expiresAt'> & { block: number; budget: string }) | null;
  /** Null until decided. */
  accepted: boolean | null;
  reason: string | null;
  offering: string | null;
  ref: string | null;
  /** Transaction of `setBudget`; null when the client had set the price itself. */
  budgetTx: Hash | null;
  delivery: JobDelivery | null;
  submission: { txHash: Hash; at: Date } | null;
  /** Amount as decimal text. */
  payment: { amountMicros: string; txHash: Hash; settledAt: Date } | null;
  /** The first receipt that was signed for the payment. */
  receipt?: SignedReceipt;
  unpaidBy?: Address[];
  /** Attempts to post the delivery to a marketplace; unset before the first. */
  posting?: { attempts: number; due: Date | null; postedAt: Date | null };
  notedAt: Date;
}

export type JobDocWithoutText = Omit<JobDoc, 'delivery'> & { delivery: Omit<JobDelivery, 'text'> | null };

function buildJobKey(contract: Address, jobId: bigint): string {
  return `${contract.toLowerCase()}:${jobId}`;
}

export function buildJobResource({ contract, jobId }: Pick<JobDoc, 'contract' | 'jobId'>): string {
  return `job:${contract}:${jobId}`;
}

type JobRef = Pick<JobDoc, '_id' | 'contract'>;

/** One delivery slot per contract for all jobs of unknown evaluators, over all processes: more wallets get a client no more deliveries. */
export class DeliverySlot {
  /** `_id` is the contract, in lower case. */
  readonly slots: Collection<{ _id: string; job: string; until: Date }>;

  constructor(db: Db) {
    this.slots = db.collection('agent_commerce_turns');
  }

  /** Acquires or extends the slot, by the database's clock; false while another job holds it. */
  async acquire({ _id: job, contract }: JobRef, forMs: number): Promise<boolean> {
    const _id = contract.toLowerCase();
    const mine = { _id, job, until: { $add: ['$$NOW', forMs] } };
    // Also true for a new document.
    const isFree = { $or: [{ $eq: ['$job', job] }, { $not: [{ $gt: ['$until', '$$NOW'] }] }] };
    const update = [{ $replaceWith: { $cond: [isFree, mine, '$$ROOT'] } }];
    const options = { upsert: true, returnDocument: 'after' } as const;
    const slot = await this.slots.findOneAndUpdate({ _id }, update, options).catch(ignoreDuplicate);
    return slot?.job === job;
  }

  async release({ _id: job, contract }: JobRef): Promise<void> {
    await this.slots.updateOne({ _id: contract.toLowerCase(), job }, { $set: { until: new Date(0) } }, { hint: '_id_' });
  }

  /** Expiry of another job's hold, or null. */
  async getTakenUntil({ _id: job, contract }: JobRef): Promise<Date | null> {
    const held = { _id: contract.toLowerCase(), job: { $ne: job }, $expr: { $gt: ['$until', '$$NOW'] } };
    return (await this.slots.findOne(held))?.until ?? null;
  }
}
