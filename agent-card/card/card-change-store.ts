import type { Collection, Db } from 'mongodb';
import { ignoreDuplicate } from '../../src/platform/mongo.ts';

interface CardChangeDoc {
  _id: 'agent-card';
  etag: string;
  /** Whole seconds, as in HTTP dates. */
  changedAt: Date;
}

export interface CardChangeStoreOptions {
  db: Db;
  now(): Date;
}

/** Times at which the agent card changed, shared by all processes. */
export class CardChangeStore {
  readonly #changes: Collection<CardChangeDoc>;
  readonly #now: () => Date;

  constructor({ db, now }: CardChangeStoreOptions) {
    this.#changes = db.collection('card_changes');
    this.#now = now;
  }

  /** Returns when the card got this tag, in whole seconds; now for a new tag. */
  async record(etag: string): Promise<Date> {
    const changedAt = new Date(Math.floor(this.#now().getTime() / 1_000) * 1_000);
    // A concurrent process may insert first; the duplicate key is ignored.
    await this.#changes
      .updateOne({ _id: 'agent-card', etag: { $ne: etag } }, { $set: { etag, changedAt } }, { upsert: true })
      .catch(ignoreDuplicate);
    const found = await this.#changes.findOne({ _id: 'agent-card', etag });
    return found?.changedAt ?? changedAt;
  }
}
