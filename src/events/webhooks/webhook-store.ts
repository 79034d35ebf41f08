import type { Collection, Db, Filter, UpdateFilter } from 'mongodb';
import { OracleError } from '../../errors.ts';
import { createOutboxEntry, isDuplicateKey, OUTBOX_INDEX } from '../../platform/mongo.ts';
import { confirmIfUncertain, insertFirst, repeatIfUncertain } from '../../platform/retry.ts';
import type { SecretBox } from '../../platform/secrets.ts';
import { FAN_OUT_INDEX } from './delivery-queue.ts';
import { openOr, openTargetUrl, type WebhookFormat } from './formats.ts';
import { type Disablement, REVERSIBLE_DISABLERS, type WebhookDoc, type WebhookStatus } from './store.ts';

export const MAX_WEBHOOKS_PER_WALLET = 10;
/** Over all wallets: each webhook is matched against every event. */
const MAX_WEBHOOKS = 10_000;

export const WEBHOOK_INDEXES = [
  {
    collection: 'webhooks',
    indexes: [{ key: { wallet: 1, slot: 1 }, unique: true }, { key: { fingerprint: 1 }, unique: true }, FAN_OUT_INDEX, OUTBOX_INDEX],
  },
];

const DISABLED_REVERSIBLY = { status: 'disabled' as const, disabledBy: { $in: [...REVERSIBLE_DISABLERS] } };
const BY_ID = { hint: { _id: 1 } } as const;
/** Time to append a replay to the queue; later its process counts as dead. */
const CLAIM_MS = 30_000;

export class WebhookStore {
  readonly #webhooks: Collection<WebhookDoc>;
  readonly #max: number;

  /** @param max over all wallets */
  constructor(db: Db, max = MAX_WEBHOOKS) {
    this.#webhooks = db.collection('webhooks');
    this.#max = max;
  }

  async list(wallet: string): Promise<WebhookDoc[]> {
    const found = await this.#webhooks.find({ wallet }).toArray();
    return found.sort((a, b) => a.createdAt.getTime() - b.createdAt.getTime() || a._id.localeCompare(b._id));
  }

  get(wallet: string, id: string): Promise<WebhookDoc | null> {
    return this.#webhooks.findOne({ _id: id, wallet }, BY_ID);
  }

  /** Before a registration. @throws OracleError CONFLICT at the limit of the wallet, RATE_LIMITED at that of all wallets */
  async requireCapacity(wallet: string): Promise<void> {
    if ((await this.#freeSlots(wallet)).length === 0) throw walletLimitReached();
    // Collection metadata: counts no documents.
    if ((await this.#webhooks.estimatedDocumentCount()) >= this.#max) throw serviceLimitReached();
  }

  /** @throws OracleError CONFLICT without a free slot or for a duplicate; RATE_LIMITED at the limit of all wallets */
  async add(webhook: Omit<WebhookDoc, 'slot'>): Promise<WebhookDoc> {
    // Each conflict fills a slot of the wallet, so the loop ends unless webhooks are deleted meanwhile.
    for (;;) {
      const [slot] = await this.#freeSlots(webhook.wallet);
      const same = await this.#webhooks.findOne({ fingerprint: webhook.fingerprint });
      if (same !== null) throw duplicateWebhook(same._id);
      if (slot === undefined) throw walletLimitReached();
      const doc = { ...webhook, slot };
      if (!(await insertFirst(this.#webhooks, doc, '_id'))) continue;
      if ((await this.#webhooks.estimatedDocumentCount()) <= this.#max) return doc;
      // Concurrent registrations may each have found capacity.
      await this.remove(doc.wallet, doc._id);
      throw serviceLimitReached();
    }
  }

  async remove(wallet: string, id: string): Promise<boolean> {
    return confirmIfUncertain(
      async () => (await this.#webhooks.deleteOne({ _id: id, wallet }, BY_ID)).deletedCount > 0,
      async () => (await this.get(wallet, id)) === null || null,
    );
  }

  /** Compare-and-set on the current secret; null if it has changed or the webhook is gone. */
  replaceSecret(
    { _id, wallet, sealedSecret }: WebhookDoc,
    change: Pick<WebhookDoc, 'sealedSecret' | 'secretSetAt' | 'previousSecret'>,
  ): Promise<WebhookDoc | null> {
    return confirmIfUncertain(
      () => this.#update({ _id, wallet, sealedSecret }, { $set: change }),
      () => this.#webhooks.findOne({ _id, wallet, sealedSecret: change.sealedSecret }, BY_ID),
    );
  }

  /** Compare-and-set; null if it has changed or is gone. @throws OracleError CONFLICT if the wallet has an equal webhook */
  async updateSubscription({ _id, wallet, fingerprint }: WebhookDoc, change: Partial<WebhookDoc>): Promise<WebhookDoc | null> {
    try {
      return await this.#update({ _id, wallet, fingerprint }, { $set: change });
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
      const same = await this.#webhooks.findOne({ fingerprint: change.fingerprint }, { projection: { _id: 1 } });
      if (same !== null) throw duplicateWebhook(same._id);
      return null;
    }
  }

  /** One disabled by its receiver or by failures; null if there is none. @param queuedThrough last event that is not delivered */
  enable(wallet: string, id: string, queuedThrough: number): Promise<WebhookDoc | null> {
    const ended = { _id: id, wallet, ...DISABLED_REVERSIBLY };
    const active = { status: 'active' as const, disabledAt: null, disabledReason: null, disabledBy: null, failingSince: null };
    return this.#update(ended, { $set: active, $max: { queuedThrough } });
  }

  /** Reactivates a suspended webhook, which then receives all events since; null if there is none. */
  resume(wallet: string, id: string): Promise<WebhookDoc | null> {
    return this.#update({ _id: id, wallet, status: 'suspended' }, { $set: { status: 'active', suspendedAt: null } });
  }

  /** Records a test unless one was recorded after `since`; returns whether it did. */
  async recordTest({ _id, wallet }: WebhookDoc, { since, at }: { since: Date; at: Date }): Promise<boolean> {
    const rested = { _id, wallet, testedAt: { $not: { $gt: since } } };
    return (await this.#update(rested, { $set: { testedAt: at } })) !== null;
  }

  /** Disables a webhook permanently; a second call keeps the first reason. Null if there is none. */
  async disable(id: string, disabledReason: string, disabledAt: Date): Promise<WebhookDoc | null> {
    const change = {
      $set: { status: 'disabled' as const, disabledReason, disabledAt, disabledBy: 'operator' as const, suspendedAt: null },
    };
    await this.#update({ _id: id, $or: [{ status: { $in: ['active' as const, 'suspended' as const] } }, DISABLED_REVERSIBLY] }, change);
    return this.#webhooks.findOne({ _id: id });
  }

  async getStatus(id: string): Promise<WebhookStatus | null> {
    const webhook = await this.#webhooks.findOne({ _id: id }, { projection: { status: 1 }, ...BY_ID });
    return webhook?.status ?? null;
  }

  async suspend(id: string, at: Date): Promise<void> {
    await this.#webhooks.updateOne({ _id: id, status: 'active' }, { $set: { status: 'suspended', suspendedAt: at } }, BY_ID);
  }

  /** Reactivates a suspended webhook, which then receives all events since; false if it is not suspended. */
  async resumeSuspended(id: string): Promise<boolean> {
    const change = { $set: { status: 'active' as const, suspendedAt: null } };
    return (await this.#webhooks.updateOne({ _id: id, status: 'suspended' }, change, BY_ID)).modifiedCount === 1;
  }

  /** Records a failure; the first after a success sets `failingSince`. False if the target has changed, to which it does not apply. */
  async recordFailure({ _id, targetKey }: WebhookDoc, at: Date): Promise<boolean> {
    const failingSince = { $ifNull: ['$failingSince', at] };
    const write = () => this.#webhooks.updateOne({ _id, targetKey }, [{ $set: { failingSince } }], BY_ID);
    return (await repeatIfUncertain(write)).matchedCount === 1;
  }

  async recordSuccess({ _id, failingSince, targetKey }: WebhookDoc): Promise<void> {
    if (failingSince === null) return;
    await repeatIfUncertain(() => this.#webhooks.updateOne({ _id, targetKey }, { $set: { failingSince: null } }, BY_ID));
  }

  /** Disables an active webhook and, in the same write, adds the owner's notice to its outbox. False if it was disabled or its target changed. */
  async end({ _id, targetKey }: WebhookDoc, { by, reason, at, failingSince }: Disablement): Promise<boolean> {
    const ended = { status: 'disabled' as const, disabledAt: at, disabledReason: reason, disabledBy: by, failingSince };
    const ending = { ...createOutboxEntry(`disabled:${at.getTime()}` as const, at), reason, failingSince };
    const change = { $set: ended, $push: { outbox: ending } };
    return confirmIfUncertain(
      async () => (await this.#webhooks.updateOne({ _id, targetKey, status: 'active' }, change, BY_ID)).modifiedCount === 1,
      async () => (await this.#webhooks.findOne({ _id, targetKey, disabledBy: by, disabledAt: at }, BY_ID)) && true,
    );
  }

  /** By the database's clock. @throws OracleError CONFLICT during another request's claim, or if the webhook is no longer active */
  async claimReplay(webhookId: string): Promise<{ webhookId: string; until: Date }> {
    const free = { _id: webhookId, status: 'active' as const, $expr: { $not: [{ $gt: ['$replays.claimedUntil', '$$NOW'] }] } };
    const claim = [{ $set: { 'replays.claimedUntil': { $add: ['$$NOW', CLAIM_MS] } } }];
    const webhook = await this.#webhooks.findOneAndUpdate(free, claim, { returnDocument: 'after', ...BY_ID });
    if (webhook !== null) return { webhookId, until: webhook.replays!.claimedUntil };
    const suggestedAction = 'Check the webhook and its deliveries, then retry.';
    throw new OracleError('CONFLICT', 'The webhook is being changed, or replayed to, by another request', { suggestedAction });
  }

  async releaseReplay({ webhookId, until }: { webhookId: string; until: Date }): Promise<void> {
    const own = { _id: webhookId, 'replays.claimedUntil': until };
    await repeatIfUncertain(() => this.#webhooks.updateOne(own, { $set: { 'replays.claimedUntil': new Date(0) } }, BY_ID));
  }

  #update(filter: Filter<WebhookDoc>, update: UpdateFilter<WebhookDoc>): Promise<WebhookDoc | null> {
    return this.#webhooks.findOneAndUpdate(filter, update, { returnDocument: 'after', ...BY_ID });
  }

  async #freeSlots(wallet: string): Promise<number[]> {
    const taken = await this.#webhooks.find({ wallet }, { projection: { slot: 1 } }).toArray();
    return Array.from({ length: MAX_WEBHOOKS_PER_WALLET }, (_, slot) => slot).filter((slot) => taken.every((one) => one.slot !== slot));
  }
}

function walletLimitReached(): OracleError {
  return new OracleError('CONFLICT', `A wallet can have ${MAX_WEBHOOKS_PER_WALLET} webhooks, and this one has them`, {
    suggestedAction: 'Delete one first: GET /api/svc/webhooks lists them.',
    details: { limit: MAX_WEBHOOKS_PER_WALLET },
  });
}

function serviceLimitReached(): OracleError {
  return new OracleError('RATE_LIMITED', 'All webhooks that this service takes are registered', {
    suggestedAction: 'Receive the events over the WebSocket, or register later: others may be deleted by then.',
    retryAfterSeconds: 3_600,
    details: { policy: 'webhooks', scope: 'all' },
  });
}

function duplicateWebhook(id: string): OracleError {
  return new OracleError('CONFLICT', 'This URL is registered for these events, horizons and sizes already', {
    field: 'url',
    suggestedAction: 'Use the existing one; POST /api/svc/webhooks/{id}/secret rotates its secret.',
    details: { id },
  });
}

/** A webhook as its owner sees it: of the secret only the time it was set, of the URL of a chat its host and last characters, as operators see any URL. */
export type WebhookView = ReturnType<typeof toWebhookView>;

/** Lists the fields explicitly, so that a new stored field stays private. @param box for the owner, who gave the URL */
export function toWebhookView(doc: WebhookDoc, now: Date, box?: SecretBox) {
  const { _id, events, horizons, secretSetAt, status, disabledAt, disabledReason, disabledBy, failingSince, createdAt } = doc;
  const shown = { events, horizons, secretSetAt, status, disabledAt, disabledReason, disabledBy, failingSince, createdAt };
  const previous = doc.previousSecret?.validUntil ?? null;
  const format: WebhookFormat = doc.chat?.format ?? 'json';
  return {
    _id,
    // Masked where it cannot be read.
    url:
      box === undefined || doc.chat !== undefined
        ? doc.url
        : openOr(
            () => openTargetUrl(doc, box),
            () => doc.url,
          ),
    format,
    chatId: doc.chat?.chatId ?? null,
    ...shown,
    moveSize: doc.moveSize ?? null,
    suspendedAt: doc.suspendedAt ?? null,
    /** End of the previous secret's validity; null if it is not valid. */
    previousSecretUntil: previous !== null && previous > now ? previous : null,
  };
}
