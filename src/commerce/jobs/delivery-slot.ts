import type { Collection, Db } from 'mongodb';
import { ignoreDuplicate } from '../../platform/mongo.ts';

interface DeliverySlotDoc {
  /** The contract, in lower case. */
  _id: string;
  job: string;
  until: Date;
}

interface JobRef {
  _id: string;
  contract: string;
}

/** One delivery slot per contract for all jobs of unknown evaluators, over all processes: more wallets get a client no more deliveries. */
export class DeliverySlot {
  readonly slots: Collection<DeliverySlotDoc>;

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
