import type { Collection, Db } from 'mongodb';
import { createOutboxEntry } from '../../../platform/outbox.ts';
import { confirmIfUncertain, repeatIfUncertain } from '../../../platform/uncertain-write.ts';
import { matchTarget } from '../formats/chat-target.ts';
import type { Disabler, WebhookDoc, WebhookStatus } from '../registry/webhook.ts';

const BY_ID = { hint: { _id: 1 } } as const;

export class WebhookHealthStore {
  readonly #webhooks: Collection<WebhookDoc>;

  constructor(db: Db) {
    this.#webhooks = db.collection('webhooks');
  }

  async getStatus(id: string): Promise<WebhookStatus | null> {
    const webhook = await this.#webhooks.findOne({ _id: id }, { projection: { status: 1 }, ...BY_ID });
    return webhook?.status ?? null;
  }

  async suspend(id: string, at: Date): Promise<void> {
    await this.#webhooks.updateOne({ _id: id, status: 'active' }, { $set: { status: 'suspended', suspendedAt: at } }, BY_ID);
  }

  /** Reactivates a suspended webhook, which then receives all events since; false if it is not suspended. */
  async resume(id: string): Promise<boolean> {
    const change = { $set: { status: 'active' as const, suspendedAt: null } };
    return (await this.#webhooks.updateOne({ _id: id, status: 'suspended' }, change, BY_ID)).modifiedCount === 1;
  }

  /** Records a failure; the first after a success sets `failingSince`. False if the target has changed, to which it does not apply. */
  async recordFailure({ _id, ...target }: WebhookDoc, at: Date): Promise<boolean> {
    const failingSince = { $ifNull: ['$failingSince', at] };
    const write = () => this.#webhooks.updateOne({ _id, ...matchTarget(target) }, [{ $set: { failingSince } }], BY_ID);
    return (await repeatIfUncertain(write)).matchedCount === 1;
  }

  async recordSuccess({ _id, failingSince, ...target }: WebhookDoc): Promise<void> {
    if (failingSince === null) return;
    await repeatIfUncertain(() => this.#webhooks.updateOne({ _id, ...matchTarget(target) }, { $set: { failingSince: null } }, BY_ID));
  }

  /** Disables an active webhook and, in the same write, adds the owner's notice to its outbox. False if it was disabled or its target changed. */
  async disable({ _id, ...target }: WebhookDoc, { by, reason, at, failingSince }: Disablement): Promise<boolean> {
    const ended = { status: 'disabled' as const, disabledAt: at, disabledReason: reason, disabledBy: by, failingSince };
    const ending = { ...createOutboxEntry(`disabled:${at.getTime()}` as const, at), reason, failingSince };
    const change = { $set: ended, $push: { outbox: ending } };
    return confirmIfUncertain(
      async () => (await this.#webhooks.updateOne({ _id, ...matchTarget(target), status: 'active' }, change, BY_ID)).modifiedCount === 1,
      async () => (await this.#webhooks.findOne({ _id, ...matchTarget(target), disabledBy: by, disabledAt: at }, BY_ID)) && true,
    );
  }
}

export interface Disablement {
  by: Exclude<Disabler, 'operator'>;
  reason: string;
  at: Date;
  failingSince: Date | null;
}
