import type { Collection, Db } from 'mongodb';
import { OracleError } from '../../errors.ts';
import { DAY_MS, dayOf } from '../../forecast/day.ts';
import type { WebhookDoc } from './webhook.ts';

/** Events that can be replayed to a webhook in a UTC day: whoever asks for the whole log again and again fills the store. */
export const REPLAYED_A_DAY = 10_000;

/** By then a replay stands in the queue, or its process is gone. */
const CLAIM_MS = 30_000;

/** What lets one replay at a time into the queue of a webhook. */
export interface ReplayClaim {
  webhookId: string;
  until: Date;
  events: number;
}

/** Claims on the webhooks themselves, so that they end with them. */
export class ReplayClaims {
  readonly #webhooks: Collection<WebhookDoc>;

  constructor(db: Db) {
    this.#webhooks = db.collection('webhooks');
  }

  /**
   * Counts so many events to the day of an active webhook.
   * @throws OracleError CONFLICT while somebody else is at it, or when it is not active any more; RATE_LIMITED beyond what a day has.
   */
  async take(webhookId: string, events: number, now: Date): Promise<ReplayClaim> {
    const until = new Date(now.getTime() + CLAIM_MS);
    const day = dayOf(now.getTime());
    const free = { _id: webhookId, status: 'active' as const, 'replays.claimedUntil': { $not: { $gt: now } } };
    const sameDay = { ...free, 'replays.day': day, 'replays.events': { $lte: REPLAYED_A_DAY - events } };
    const more = { $set: { 'replays.claimedUntil': until }, $inc: { 'replays.events': events } };
    const newDay = { ...free, 'replays.day': { $ne: day } };
    const first = { $set: { replays: { claimedUntil: until, day, events } } };
    const taken = (await this.#update(sameDay, more)) || (await this.#update(newDay, first));
    if (!taken) throw await this.#refusal(webhookId, now);
    return { webhookId, until, events };
  }

  /** @param unused how many of its events are not replayed after all */
  async release({ webhookId, until }: ReplayClaim, unused: number): Promise<void> {
    const change = { $set: { 'replays.claimedUntil': new Date(0) }, $inc: { 'replays.events': -unused } };
    await this.#update({ _id: webhookId, 'replays.claimedUntil': until }, change);
  }

  async #update(filter: object, change: object): Promise<boolean> {
    return (await this.#webhooks.updateOne(filter, change, { hint: { _id: 1 } })).matchedCount > 0;
  }

  async #refusal(webhookId: string, now: Date): Promise<OracleError> {
    const doc = await this.#webhooks.findOne({ _id: webhookId }, { projection: { status: 1, replays: 1 } });
    if (doc?.status === 'active' && doc.replays !== undefined && doc.replays.claimedUntil <= now) return spent(doc.replays.events, now);
    return new OracleError('CONFLICT', 'The webhook is being changed, or replayed to, by another request', {
      suggestedAction: 'Look at the webhook and its deliveries, then ask again.',
    });
  }
}

function spent(replayed: number, now: Date): OracleError {
  const seconds = Math.ceil((DAY_MS - (now.getTime() % DAY_MS)) / 1_000);
  return new OracleError('RATE_LIMITED', `At most ${REPLAYED_A_DAY} events can be replayed to a webhook in a UTC day`, {
    suggestedAction: 'Ask for fewer events, or tomorrow.',
    details: { limit: REPLAYED_A_DAY, replayed },
    retryAfterSeconds: seconds,
  });
}
