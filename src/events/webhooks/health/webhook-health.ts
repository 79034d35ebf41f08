import type { Collection, Db } from 'mongodb';
import type { Disabler, WebhookDoc, WebhookStatus } from '../registry/webhook.ts';

const BY_ID = { hint: { _id: 1 } } as const;

/** How webhooks fare: what their senders write down of them. */
export class WebhookHealthStore {
  readonly #webhooks: Collection<WebhookDoc>;

  constructor(db: Db) {
    this.#webhooks = db.collection('webhooks');
  }

  /** Null when there is no such webhook. */
  async getStatus(id: string): Promise<WebhookStatus | null> {
    const webhook = await this.#webhooks.findOne({ _id: id }, { projection: { status: 1 }, ...BY_ID });
    return webhook?.status ?? null;
  }

  /** Suspends an active webhook; one that was ended meanwhile stays ended. */
  async suspend(id: string, at: Date): Promise<void> {
    await this.#webhooks.updateOne({ _id: id, status: 'active' }, { $set: { status: 'suspended', suspendedAt: at } }, BY_ID);
  }

  /** Makes a suspended webhook active again: it gets all events since. False when it is not suspended any more. */
  async resume(id: string): Promise<boolean> {
    const change = { $set: { status: 'active' as const, suspendedAt: null } };
    return (await this.#webhooks.updateOne({ _id: id, status: 'suspended' }, change, BY_ID)).modifiedCount === 1;
  }

  /**
   * Notes a failure: the first one after a success is what the time is counted from. False where the webhook leads elsewhere by now,
   * of which that says nothing.
   */
  async recordFailure({ _id, url }: WebhookDoc, at: Date): Promise<boolean> {
    const failingSince = { $ifNull: ['$failingSince', at] };
    return (await this.#webhooks.updateOne({ _id, url }, [{ $set: { failingSince } }], BY_ID)).matchedCount === 1;
  }

  /** Notes a success, where the last attempt had failed. */
  async recordSuccess({ _id, url, failingSince }: WebhookDoc): Promise<void> {
    if (failingSince !== null) await this.#webhooks.updateOne({ _id, url }, { $set: { failingSince: null } }, BY_ID);
  }

  /**
   * Ends an active webhook's calls, and in the same write what its owner is to be told. False where that was not to be done: it was
   * ended before, or leads elsewhere by now.
   */
  async disable({ _id, url }: WebhookDoc, { by, reason, at, failingSince }: Disablement): Promise<boolean> {
    const ended = { status: 'disabled' as const, disabledAt: at, disabledReason: reason, disabledBy: by, failingSince };
    const ending = { change: `disabled:${at.getTime()}` as const, at, reason, failingSince };
    const change = { $set: ended, $push: { outbox: ending } };
    return (await this.#webhooks.updateOne({ _id, url, status: 'active' }, change, BY_ID)).modifiedCount === 1;
  }
}

export interface Disablement {
  by: Exclude<Disabler, 'operator'>;
  reason: string;
  at: Date;
  failingSince: Date | null;
}
