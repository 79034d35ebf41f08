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

  /** Acquires or extends the slot; false while another job holds it. */
  async acquire({ _id: job, contract }: JobRef, now: Date, forMs: number): Promise<boolean> {
    const until = new Date(now.getTime() + forMs);
    const _id = contract.toLowerCase();
    const free = { _id, $or: [{ job }, { until: { $lte: now } }] };
    // While another job holds the slot, the upsert fails on the duplicate key.
    await this.slots.updateOne(free, { $set: { job, until } }, { upsert: true, hint: '_id_' }).catch(ignoreDuplicate);
    return (await this.slots.findOne({ _id }))?.job === job;
  }

  async release({ _id: job, contract }: JobRef): Promise<void> {
    await this.slots.updateOne({ _id: contract.toLowerCase(), job }, { $set: { until: new Date(0) } }, { hint: '_id_' });
  }

  /** Expiry of another job's hold, or null. */
  async getTakenUntil({ _id: job, contract }: JobRef, now: Date): Promise<Date | null> {
    const slot = await this.slots.findOne({ _id: contract.toLowerCase() });
    return slot === null || slot.job === job || slot.until <= now ? null : slot.until;
  }
}
