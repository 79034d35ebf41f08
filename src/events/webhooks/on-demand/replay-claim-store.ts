import type { Collection, Db } from 'mongodb';
import { OracleError } from '../../../platform/errors.ts';
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

  /** @throws OracleError CONFLICT while another request holds the claim, or if the webhook is no longer active */
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
    suggestedAction: 'Check the webhook and its deliveries, then retry.',
  });
}
