import type { Collection, Db } from 'mongodb';
import type { Address } from 'viem';
import type { JobEvent, OnChainJob } from '../../chain/erc8183/jobs.ts';
import { ignoreDuplicate } from '../../platform/mongo.ts';
import { buildJobKey, type JobDelivery, type JobDoc, type JobDocWithoutText } from './job-doc.ts';

interface CursorDoc {
  /** The contract. */
  _id: string;
  /** Last block whose events are noted. */
  block: number;
}

export const JOB_INDEXES = [
  {
    collection: 'agent_jobs',
    indexes: [
      { key: { contract: 1, jobId: 1 }, unique: true },
      { key: { funded: -1, due: 1 } },
      { key: { unpaidBy: 1 }, sparse: true },
      { key: { 'onChain.client': 1 } },
    ],
  },
];

const WITHOUT_TEXT = { projection: { 'delivery.text': 0 } } as const;
/** Before anything else that is due. */
const IMMEDIATELY = new Date(0);

/** The jobs for the provider wallet, and how far the chain was read. Any number of processes write to it. */
export class JobStore {
  readonly jobs: Collection<JobDoc>;
  readonly cursors: Collection<CursorDoc>;

  constructor(db: Db) {
    this.jobs = db.collection('agent_jobs');
    this.cursors = db.collection('agent_commerce');
  }

  /** Last block whose events are noted; null before the first. */
  async getCursor(contract: Address): Promise<number | null> {
    return (await this.cursors.findOne({ _id: contract.toLowerCase() }))?.block ?? null;
  }

  /** Moves on from a block, unless another process has done so. */
  async moveCursor(contract: Address, from: number | null, to: number): Promise<void> {
    const _id = contract.toLowerCase();
    if (from !== null) {
      await this.cursors.updateOne({ _id, block: from }, { $set: { block: to } });
      return;
    }
    await this.cursors.insertOne({ _id, block: to }).catch(ignoreDuplicate);
  }

  /** Notes what happened: new jobs for us, and that known ones have to be looked at. */
  async recordEvents(contract: Address, events: readonly JobEvent[], now: Date): Promise<void> {
    for (const { jobId, blockNumber } of events.filter(({ assigned }) => assigned)) {
      const doc = createJobDoc(contract, jobId, { block: Number(blockNumber), now });
      await this.jobs.insertOne(doc).catch(ignoreDuplicate);
    }
    const newest = new Map<string, number>();
    for (const { jobId, blockNumber } of events) newest.set(buildJobKey(contract, jobId), Number(blockNumber));
    const funded = new Set(events.filter((event) => event.funded).map(({ jobId }) => buildJobKey(contract, jobId)));
    const known = await this.jobs.find({ _id: { $in: [...newest.keys()] } }, { projection: { _id: 1 }, hint: '_id_' }).toArray();
    for (const { _id } of known) {
      await this.jobs.updateOne(
        { _id },
        { $max: { lastEventBlock: newest.get(_id)! }, $set: { due: IMMEDIATELY, ...(funded.has(_id) && { funded: true }) } },
      );
    }
  }

  /** Jobs to be looked at, the most urgent first; those with money in them before all offers, of which anybody makes any number. */
  listDue(now: Date, limit: number): Promise<JobDocWithoutText[]> {
    return this.jobs
      .find({ due: { $lte: now } }, { ...WITHOUT_TEXT, hint: { funded: -1, due: 1 } })
      .sort({ funded: -1, due: 1 })
      .limit(limit)
      .toArray();
  }

  find(contract: Address, jobId: bigint): Promise<JobDocWithoutText | null> {
    return this.jobs.findOne<JobDocWithoutText>({ _id: buildJobKey(contract, jobId) }, WITHOUT_TEXT);
  }

  /** What was delivered, its hash being on chain; null when nothing was. */
  async findSubmittedDelivery(contract: Address, jobId: bigint): Promise<JobDelivery | null> {
    const doc = await this.jobs.findOne({ _id: buildJobKey(contract, jobId) });
    return doc?.submission ? doc.delivery : null;
  }

  /** How a job stood at a block; an older look never replaces a newer one. */
  async setOnChainState(_id: string, { state, client, evaluator, budget, expiresAt }: OnChainJob, block: number): Promise<void> {
    const onChain = {
      block,
      state,
      client: toLowerCaseAddress(client),
      evaluator: toLowerCaseAddress(evaluator),
      budget: budget.toString(),
      expiresAt,
    };
    await this.jobs.updateOne({ _id, 'onChain.block': { $not: { $gt: block } } }, { $set: { onChain } });
  }

  /** Writes down what was found out or done; facts that every process finds the same. */
  async update(_id: string, facts: Partial<JobDoc>): Promise<void> {
    await this.jobs.updateOne({ _id }, { $set: facts });
  }

  /** Decides on a job, unless that is done; resolves to whether it is taken on, whoever decided. */
  async decide(_id: string, decision: Pick<JobDoc, 'accepted' | 'reason' | 'offering' | 'ref'>): Promise<boolean> {
    await this.jobs.updateOne({ _id, accepted: null }, { $set: decision });
    return (await this.jobs.findOne({ _id }, WITHOUT_TEXT))?.accepted === true;
  }

  /** Takes back that a job is taken on, unless something is kept for delivery: then it resolves to false. */
  async reject(_id: string, reason: string): Promise<boolean> {
    const { matchedCount } = await this.jobs.updateOne({ _id, delivery: null }, { $set: { accepted: false, reason } });
    return matchedCount === 1;
  }

  /** Keeps what is delivered; the first one that is kept counts. Null when the job was refused in the meantime. */
  async saveDelivery(_id: string, delivery: JobDelivery): Promise<JobDelivery | null> {
    await this.jobs.updateOne({ _id, delivery: null, accepted: true }, { $set: { delivery } });
    return (await this.jobs.findOne({ _id }))?.delivery ?? null;
  }

  /** When to look again after a look at a block, unless there was an event after that. */
  async setDue(_id: string, block: number, due: Date | null): Promise<void> {
    await this.jobs.updateOne({ _id, lastEventBlock: { $lte: block } }, { $set: { due, failures: 0, failure: null } });
  }

  /** Whether the client or the evaluator of a job has let a delivery go unpaid. */
  async hasUnpaidDelivery({ client, evaluator }: Pick<OnChainJob, 'client' | 'evaluator'>): Promise<boolean> {
    const unpaidBy = { $in: [client, evaluator].map(toLowerCaseAddress) };
    return (await this.jobs.findOne({ unpaidBy }, { projection: { _id: 1 }, hint: { unpaidBy: 1 } })) !== null;
  }

  /** Jobs of a client that are taken on and could still be funded. */
  countOffers(client: Address, at: Date): Promise<number> {
    const isOpen = { accepted: true, 'onChain.state': 'OPEN' as const, 'onChain.expiresAt': { $gt: at } };
    return this.jobs.countDocuments({ 'onChain.client': toLowerCaseAddress(client), ...isOpen }, { hint: { 'onChain.client': 1 } });
  }
}

function createJobDoc(contract: Address, jobId: bigint, { block, now }: { block: number; now: Date }): JobDoc {
  return {
    _id: buildJobKey(contract, jobId),
    contract: contract.toLowerCase() as Address,
    jobId: jobId.toString(),
    seenBlock: block,
    lastEventBlock: block,
    due: IMMEDIATELY,
    funded: false,
    ...{ failures: 0, failure: null },
    ...{ onChain: null, accepted: null, reason: null, offering: null, ref: null },
    ...{ budgetTx: null, delivery: null, submission: null, payment: null },
    notedAt: now,
  };
}

function toLowerCaseAddress(address: Address): Address {
  return address.toLowerCase() as Address;
}
