import type { Collection, Db } from 'mongodb';
import { ignoreDuplicate } from '../../mongo.ts';

interface TurnDoc {
  /** The contract, in lower case. */
  _id: string;
  /** The job whose turn it is. */
  job: string;
  /** When it ends in any case. */
  until: Date;
}

/** A job as the store knows it. */
interface Known {
  _id: string;
  contract: string;
}

/**
 * Whose turn it is among the jobs of evaluators whom nobody vouches for. They are delivered one at a time, whatever the number of
 * their wallets, over all processes on a database.
 */
export class JobTurns {
  readonly turns: Collection<TurnDoc>;

  constructor(db: Db) {
    this.turns = db.collection('agent_commerce_turns');
  }

  /** Takes the turn for a time, or keeps it; false while it is another job's. */
  async take({ _id: job, contract }: Known, now: Date, forMs: number): Promise<boolean> {
    const until = new Date(now.getTime() + forMs);
    const _id = contract.toLowerCase();
    const free = { _id, $or: [{ job }, { until: { $lte: now } }] };
    // Where it is not free, an upsert finds the key taken.
    await this.turns.updateOne(free, { $set: { job, until } }, { upsert: true, hint: '_id_' }).catch(ignoreDuplicate);
    return (await this.turns.findOne({ _id }))?.job === job;
  }

  /** Ends the turn of a job; nothing where it has none. */
  async pass({ _id: job, contract }: Known): Promise<void> {
    await this.turns.updateOne({ _id: contract.toLowerCase(), job }, { $set: { until: new Date(0) } }, { hint: '_id_' });
  }

  /** When the turn of another job ends in any case; null where there is none. */
  async takenUntil({ _id: job, contract }: Known, now: Date): Promise<Date | null> {
    const turn = await this.turns.findOne({ _id: contract.toLowerCase() });
    return turn === null || turn.job === job || turn.until <= now ? null : turn.until;
  }
}
