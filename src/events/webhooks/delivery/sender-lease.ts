import { randomUUID } from 'node:crypto';
import type { Collection, Db, Filter } from 'mongodb';
import { repeatIfUncertain, undoIfUncertain } from '../../../platform/uncertain-write.ts';
import type { WebhookDoc } from '../registry/webhook.ts';

export const SENDER_LEASE_MS = 25_000;

const BY_ID = { hint: { _id: 1 } } as const;
/** By the database's clock: the clocks of processes may differ. */
const IS_EXPIRED = { $lte: [{ $ifNull: ['$sender.until', new Date(0)] }, '$$NOW'] };

export interface SenderLease {
  holder: string;
  /** The webhook at the last acquisition or renewal. */
  webhook: WebhookDoc;
  /** Monotonic local milliseconds after which the lease may have expired. */
  expiresAtMs: number;
}

export class SenderLeaseStore {
  readonly #webhooks: Collection<WebhookDoc>;
  readonly #leaseMs: number;

  constructor(db: Db, leaseMs = SENDER_LEASE_MS) {
    this.#webhooks = db.collection('webhooks');
    this.#leaseMs = leaseMs;
  }

  /** Acquires the lease of an active webhook; null if it is taken or the webhook is not active. */
  acquire(webhookId: string): Promise<SenderLease | null> {
    return this.#writeLease(randomUUID(), { _id: webhookId, status: 'active', $expr: IS_EXPIRED });
  }

  /** Extends a lease to its full time; null if it was lost or the webhook is no longer active. */
  renew({ holder, webhook: { _id } }: SenderLease): Promise<SenderLease | null> {
    return this.#writeLease(holder, { _id, status: 'active', 'sender.holder': holder, $expr: { $not: [IS_EXPIRED] } });
  }

  async release({ holder, webhook: { _id } }: { holder: string; webhook: Pick<WebhookDoc, '_id'> }): Promise<void> {
    await repeatIfUncertain(() => this.#webhooks.updateOne({ _id, 'sender.holder': holder }, { $set: { sender: null } }, BY_ID));
  }

  async #writeLease(holder: string, filter: Filter<WebhookDoc> & { _id: string }): Promise<SenderLease | null> {
    // Computed before the database sets the expiry: the local one is never later.
    const expiresAtMs = performance.now() + this.#leaseMs;
    const update = [{ $set: { sender: { holder, until: { $add: ['$$NOW', this.#leaseMs] } } } }];
    const written = this.#webhooks.findOneAndUpdate(filter, update, { returnDocument: 'after', ...BY_ID });
    const webhook = await undoIfUncertain(written, () => this.release({ holder, webhook: filter }));
    return webhook === null ? null : { holder, webhook, expiresAtMs };
  }
}
