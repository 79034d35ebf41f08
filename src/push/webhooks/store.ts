import type { Collection, Db } from 'mongodb';
import { OracleError } from '../../errors.ts';
import { isDuplicateKey } from '../../mongo.ts';
import type { WebhookDoc } from './webhook.ts';

/** Callbacks that one wallet can have. */
export const WEBHOOKS_PER_WALLET = 10;

export const WEBHOOK_INDEXES = [
  {
    collection: 'webhooks',
    indexes: [
      { key: { wallet: 1, slot: 1 }, unique: true },
      { key: { fingerprint: 1 }, unique: true },
    ],
  },
];

/** Registered callbacks. Whose they are is part of every query of a caller's. */
export class WebhookStore {
  readonly #webhooks: Collection<WebhookDoc>;

  constructor(db: Db) {
    this.#webhooks = db.collection('webhooks');
  }

  /** A wallet's own, oldest first. */
  async list(wallet: string): Promise<WebhookDoc[]> {
    const found = await this.#webhooks.find({ wallet }).toArray();
    return found.sort((a, b) => a.createdAt.getTime() - b.createdAt.getTime() || a._id.localeCompare(b._id));
  }

  /** @throws OracleError CONFLICT when the wallet has all it can have. */
  async requireRoom(wallet: string): Promise<void> {
    if ((await this.#freeSlots(wallet)).length === 0) throw full();
  }

  /**
   * Adds a webhook in a free slot of its wallet.
   * @throws OracleError CONFLICT when the wallet has no free one, or has just this webhook already.
   */
  async add(webhook: Omit<WebhookDoc, 'slot'>): Promise<WebhookDoc> {
    // A slot that is lost was won by somebody else: in a wallet that only adds, the loop ends after as many rounds as slots.
    for (;;) {
      const [slot] = await this.#freeSlots(webhook.wallet);
      const same = await this.#webhooks.findOne({ fingerprint: webhook.fingerprint });
      if (same !== null) throw duplicate(same._id);
      if (slot === undefined) throw full();
      const doc = { ...webhook, slot };
      if (await this.#insert(doc)) return doc;
    }
  }

  /** Tells whether there was one of that id and wallet. */
  async remove(wallet: string, id: string): Promise<boolean> {
    const { deletedCount } = await this.#webhooks.deleteOne({ _id: id, wallet }, { hint: { _id: 1 } });
    return deletedCount > 0;
  }

  /** Disables a webhook for good; of one that is disabled already the first reason stands. Null when there is none. */
  async disable(id: string, disabledReason: string, disabledAt: Date): Promise<WebhookDoc | null> {
    const change = { $set: { status: 'disabled' as const, disabledReason, disabledAt, disabledBy: 'operator' as const } };
    await this.#webhooks.updateOne({ _id: id, status: 'active' }, change);
    return this.#webhooks.findOne({ _id: id });
  }

  async #freeSlots(wallet: string): Promise<number[]> {
    const taken = await this.#webhooks.find({ wallet }, { projection: { slot: 1 } }).toArray();
    return Array.from({ length: WEBHOOKS_PER_WALLET }, (_, slot) => slot).filter((slot) => taken.every((one) => one.slot !== slot));
  }

  async #insert(doc: WebhookDoc): Promise<boolean> {
    try {
      await this.#webhooks.insertOne(doc);
      return true;
    } catch (error) {
      if (isDuplicateKey(error)) return false;
      throw error;
    }
  }
}

function full(): OracleError {
  return new OracleError('CONFLICT', `A wallet can have ${WEBHOOKS_PER_WALLET} webhooks, and this one has them`, {
    suggestedAction: 'Delete one first: GET /api/svc/webhooks lists them.',
    details: { limit: WEBHOOKS_PER_WALLET },
  });
}

function duplicate(id: string): OracleError {
  return new OracleError('CONFLICT', 'This URL is registered for these events and horizons already', {
    field: 'url',
    suggestedAction: 'Use the one there is, or delete it to get a new secret.',
    details: { id },
  });
}
