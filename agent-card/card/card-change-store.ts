import type { Collection, Db } from 'mongodb';
import { ignoreDuplicate } from '../../src/platform/mongo.ts';

/** What the agent card says, and since when. There is one document. */
interface CardChangeDoc {
  _id: 'agent-card';
  /** Entity tag of the card. */
  etag: string;
  /** To the second, as HTTP dates are. */
  changedAt: Date;
}

export interface CardChangeStoreOptions {
  db: Db;
  now(): Date;
}

/** Times at which the agent card changed, shared by all processes through the store. */
export class CardChangeStore {
  readonly #changes: Collection<CardChangeDoc>;
  readonly #now: () => Date;

  constructor({ db, now }: CardChangeStoreOptions) {
    this.#changes = db.collection('card_changes');
    this.#now = now;
  }

  /** Time at which the card got this tag, to the second: now where it had another one, or none. */
  async record(etag: string): Promise<Date> {
    const changedAt = new Date(Math.floor(this.#now().getTime() / 1_000) * 1_000);
    // Another process may write the same first; then the insert of the upsert is refused.
    await this.#changes
      .updateOne({ _id: 'agent-card', etag: { $ne: etag } }, { $set: { etag, changedAt } }, { upsert: true })
      .catch(ignoreDuplicate);
    const found = await this.#changes.findOne({ _id: 'agent-card', etag });
    return found?.changedAt ?? changedAt;
  }
}
