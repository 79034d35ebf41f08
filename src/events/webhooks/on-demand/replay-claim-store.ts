import type { Collection, Db } from 'mongodb';
import { OracleError } from '../../../platform/errors.ts';
import type { WebhookDoc } from '../registry/webhook.ts';

/** By then a replay stands in the queue, or its process is gone. */
const CLAIM_MS = 30_000;

/** What lets one replay at a time into the queue of a webhook. */
export interface ReplayClaim {
  webhookId: string;
  until: Date;
}

/** Claims on the webhooks themselves, so that they end with them. */
export class ReplayClaimStore {
  readonly #webhooks: Collection<WebhookDoc>;

  constructor(db: Db) {
    this.#webhooks = db.collection('webhooks');
  }

  /** @throws OracleError CONFLICT while somebody else is at it, or when the webhook is not active any more. */
  async acquire(webhookId: string, now: Date): Promise<ReplayClaim> {
    const until = new Date(now.getTime() + CLAIM_MS);
    const free = { _id: webhookId, status: 'active' as const, 'replays.claimedUntil': { $not: { $gt: now } } };
    if (!(await this.#update(free, until))) throw replayInProgress();
    return { webhookId, until };
  }

  async release({ webhookId, until }: ReplayClaim): Promise<void> {
    await this.#update({ _id: webhookId, 'replays.claimedUntil': until }, new Date(0));
  }

  async #update(filter: object, claimedUntil: Date): Promise<boolean> {
    const change = { $set: { 'replays.claimedUntil': claimedUntil } };
    return (await this.#webhooks.updateOne(filter, change, { hint: { _id: 1 } })).matchedCount > 0;
  }
}

function replayInProgress(): OracleError {
  return new OracleError('CONFLICT', 'The webhook is being changed, or replayed to, by another request', {
    suggestedAction: 'Look at the webhook and its deliveries, then ask again.',
  });
}
