import type { Collection, Db } from 'mongodb';
import { OracleError } from '../../../platform/errors.ts';
import { repeatIfUncertain } from '../../../platform/uncertain-write.ts';
import type { WebhookDoc } from '../registry/webhook.ts';

/** Time to append a replay to the queue; later its process counts as dead. */
const CLAIM_MS = 30_000;

export interface ReplayClaim {
  webhookId: string;
  until: Date;
}

/** Stores claims in the webhook documents, so that they are deleted with them. */
export class ReplayClaimStore {
  readonly #webhooks: Collection<WebhookDoc>;

  constructor(db: Db) {
    this.#webhooks = db.collection('webhooks');
  }

  /** By the database's clock. @throws OracleError CONFLICT during another request's claim, or if the webhook is no longer active */
  async acquire(webhookId: string): Promise<ReplayClaim> {
    const free = { _id: webhookId, status: 'active' as const, $expr: { $not: [{ $gt: ['$replays.claimedUntil', '$$NOW'] }] } };
    const claim = [{ $set: { 'replays.claimedUntil': { $add: ['$$NOW', CLAIM_MS] } } }];
    const webhook = await this.#webhooks.findOneAndUpdate(free, claim, { returnDocument: 'after', hint: { _id: 1 } });
    if (webhook === null) throw replayInProgress();
    return { webhookId, until: webhook.replays!.claimedUntil };
  }

  async release({ webhookId, until }: ReplayClaim): Promise<void> {
    const own = { _id: webhookId, 'replays.claimedUntil': until };
    await repeatIfUncertain(() => this.#webhooks.updateOne(own, { $set: { 'replays.claimedUntil': new Date(0) } }, { hint: { _id: 1 } }));
  }
}

function replayInProgress(): OracleError {
  return new OracleError('CONFLICT', 'The webhook is being changed, or replayed to, by another request', {
    suggestedAction: 'Check the webhook and its deliveries, then retry.',
  });
}
