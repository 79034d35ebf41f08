import type { Collection, Db } from 'mongodb';
import { ignoreDuplicate } from '../../platform/mongo.ts';

interface DeliverySlotDoc {
  /** The contract, in lower case. */
  _id: string;
  /** The job whose turn it is. */
  job: string;
  /** When it ends in any case. */
  until: Date;
}

/** A job as the store knows it. */
interface JobRef {
  _id: string;
  contract: string;
}

/**
 * Whose turn it is among the jobs of evaluators whom nobody vouches for. They are delivered one at a time, whatever the number of
 * their wallets, over all processes on a database.
 */
export class DeliverySlot {
  readonly slots: Collection<DeliverySlotDoc>;

  constructor(db: Db) {
    this.slots = db.collection('agent_commerce_turns');
  }

  /** Takes the turn for a time, or keeps it; false while it is another job's. */
  async acquire({ _id: job, contract }: JobRef, now: Date, forMs: number): Promise<boolean> {
    const until = new Date(now.getTime() + forMs);
    const _id = contract.toLowerCase();
    const free = { _id, $or: [{ job }, { until: { $lte: now } }] };
    // Where it is not free, an upsert finds the key taken.
    await this.slots.updateOne(free, { $set: { job, until } }, { upsert: true, hint: '_id_' }).catch(ignoreDuplicate);
    return (await this.slots.findOne({ _id }))?.job === job;
  }

  /** Ends the turn of a job; nothing where it has none. */
  async release({ _id: job, contract }: JobRef): Promise<void> {
    await this.slots.updateOne({ _id: contract.toLowerCase(), job }, { $set: { until: new Date(0) } }, { hint: '_id_' });
  }

  /** When the turn of another job ends in any case; null where there is none. */
  async getTakenUntil({ _id: job, contract }: JobRef, now: Date): Promise<Date | null> {
    const slot = await this.slots.findOne({ _id: contract.toLowerCase() });
    return slot === null || slot.job === job || slot.until <= now ? null : slot.until;
  }
}
