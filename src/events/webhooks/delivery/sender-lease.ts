import { randomUUID } from 'node:crypto';
import type { Collection, Db, Filter } from 'mongodb';
import type { WebhookDoc } from '../registry/webhook.ts';

/** For so long a sender that does not renew is believed to be at it. */
export const SENDER_LEASE_MS = 25_000;

const BY_ID = { hint: { _id: 1 } } as const;
/** By the database's clock alone: those of the processes may differ by any time. */
const IS_EXPIRED = { $lte: [{ $ifNull: ['$sender.until', new Date(0)] }, '$$NOW'] };

/** The right to send to a webhook, which one sender has at a time. */
export interface SenderLease {
  holder: string;
  /** The webhook as it was when the lease was taken or renewed last. */
  webhook: WebhookDoc;
  /** The local clock's milliseconds at which the lease may be over. */
  expiresAtMs: number;
}

/** Who sends to which webhook, over all processes on a database. */
export class SenderLeaseStore {
  readonly #webhooks: Collection<WebhookDoc>;
  readonly #leaseMs: number;

  constructor(db: Db, leaseMs = SENDER_LEASE_MS) {
    this.#webhooks = db.collection('webhooks');
    this.#leaseMs = leaseMs;
  }

  /** Takes the lease of an active webhook; null when somebody else has it, or there is nothing to send to. */
  acquire(webhookId: string): Promise<SenderLease | null> {
    return this.#writeLease(randomUUID(), { _id: webhookId, status: 'active', $expr: IS_EXPIRED });
  }

  /** Makes a lease last its full time again; null when it was lost, or the webhook is no longer active. */
  renew({ holder, webhook: { _id } }: SenderLease): Promise<SenderLease | null> {
    return this.#writeLease(holder, { _id, status: 'active', 'sender.holder': holder, $expr: { $not: [IS_EXPIRED] } });
  }

  async release({ holder, webhook: { _id } }: SenderLease): Promise<void> {
    await this.#webhooks.updateOne({ _id, 'sender.holder': holder }, { $set: { sender: null } }, BY_ID);
  }

  async #writeLease(holder: string, filter: Filter<WebhookDoc>): Promise<SenderLease | null> {
    // Before the database sets its end: what is counted from here ends earlier there, never later.
    const expiresAtMs = performance.now() + this.#leaseMs;
    const update = [{ $set: { sender: { holder, until: { $add: ['$$NOW', this.#leaseMs] } } } }];
    const webhook = await this.#webhooks.findOneAndUpdate(filter, update, { returnDocument: 'after', ...BY_ID });
    return webhook === null ? null : { holder, webhook, expiresAtMs };
  }
}
