import type { Collection, Db } from 'mongodb';
import type { Disabler, WebhookDoc } from './webhook.ts';

const BY_ID = { hint: { _id: 1 } } as const;

/** How webhooks fare: what their senders write down of them. */
export class WebhookStanding {
  readonly #webhooks: Collection<WebhookDoc>;

  constructor(db: Db) {
    this.#webhooks = db.collection('webhooks');
  }

  async isActive(id: string): Promise<boolean | null> {
    const webhook = await this.#webhooks.findOne({ _id: id }, { projection: { status: 1 }, ...BY_ID });
    return webhook === null ? null : webhook.status === 'active';
  }

  /** Notes a failure: the first one after a success is what the time is counted from. */
  async failed({ _id }: WebhookDoc, at: Date): Promise<void> {
    await this.#webhooks.updateOne({ _id, failingSince: null }, { $set: { failingSince: at } }, BY_ID);
  }

  /** Notes a success, where the last attempt had failed. */
  async worked({ _id, failingSince }: WebhookDoc): Promise<void> {
    if (failingSince !== null) await this.#webhooks.updateOne({ _id }, { $set: { failingSince: null } }, BY_ID);
  }

  /** Ends an active webhook's calls, and in the same write what its owner is to be told; one that was ended before stays as it is. */
  async end({ _id }: WebhookDoc, { by, reason, at, failingSince }: End): Promise<void> {
    const ended = { status: 'disabled' as const, disabledAt: at, disabledReason: reason, disabledBy: by, failingSince };
    const ending = { change: `disabled:${at.getTime()}` as const, at, reason, failingSince };
    await this.#webhooks.updateOne({ _id, status: 'active' }, { $set: ended, $push: { outbox: ending } }, BY_ID);
  }
}

export interface End {
  by: Exclude<Disabler, 'operator'>;
  reason: string;
  at: Date;
  failingSince: Date | null;
}
