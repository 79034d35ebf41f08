import { createHash } from 'node:crypto';
import type { Collection, Db } from 'mongodb';
import { clearOutbox, createOutboxEntry, findWithOutbox, type OutboxEntry, pickTraceparent } from '../../platform/mongo.ts';
import { confirmIfUncertain, repeatIfUncertain } from '../../platform/retry.ts';
import type { PushedName } from '../events.ts';
import type { AnyEvent, AnyEventDraft, EventLog } from '../log.ts';
import { CHAT_FORMATS, type DeliveredMessage, describeMessage, matchTarget, type StoredTarget } from './formats.ts';

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

/** `disabled`: receives nothing until it is enabled. `suspended`: the wallet has lost its tier; events wait in the log. */
export const WEBHOOK_STATUSES = ['active', 'suspended', 'disabled'] as const;

type WebhookStatus = (typeof WEBHOOK_STATUSES)[number];

/** The operator (permanently), the receiver (by a 410 response; chats by more, see their formats), or failures over five days. */
export const DISABLERS = ['operator', 'receiver', 'failures'] as const;

type Disabler = (typeof DISABLERS)[number];

/** After these the owner may enable the webhook again. */
export const REVERSIBLE_DISABLERS = ['receiver', 'failures'] as const satisfies Disabler[];

export interface WebhookDoc extends StoredTarget {
  _id: string;
  /** In lower case. */
  wallet: string;
  /** 0 to 9, unique per wallet: enforces the limit under concurrent registrations. */
  slot: number;
  /** Digest of wallet, target, events and horizons: rejects duplicates. */
  fingerprint: string;
  /** Time of the last change of URL or chat; unset before the first. */
  urlSetAt?: Date;
  /** In the order of `PUSHED_NAMES`. */
  events: PushedName[];
  /** Days; null: all horizons. */
  horizons: number[] | null;
  /** Encrypted, bound to this webhook's id. */
  sealedSecret: string;
  secretSetAt: Date;
  /** Signs too until `validUntil`, after a rotation. */
  previousSecret: { sealed: string; validUntil: Date } | null;
  status: WebhookStatus;
  suspendedAt?: Date | null;
  disabledAt: Date | null;
  disabledReason: string | null;
  disabledBy: Disabler | null;
  /** First failure since the last success. */
  failingSince: Date | null;
  /** Id of the last event matched against it: matching events up to there are queued. */
  queuedThrough: number;
  /** Lease of the sender, by the database's clock: a single sender keeps the order. */
  sender: { holder: string; until: Date } | null;
  testedAt?: Date;
  replays?: { claimedUntil: Date };
  outbox?: WebhookEnding[];
  createdAt: Date;
}

/** A disablement, kept as of its time: the webhook may be enabled again before its notice is published. */
interface WebhookEnding extends OutboxEntry<`disabled:${number}`> {
  reason: string;
  failingSince: Date | null;
}

export function canOwnerEnable({ disabledBy }: Pick<WebhookDoc, 'disabledBy'>): boolean {
  return REVERSIBLE_DISABLERS.some((one) => one === disabledBy);
}

/** Equal fingerprints would deliver every event twice. */
export function buildFingerprint(doc: Pick<WebhookDoc, 'wallet' | 'targetKey' | 'chat' | 'events' | 'horizons'>): string {
  const { wallet, targetKey, chat, events, horizons } = doc;
  const text = JSON.stringify([wallet, targetKey, events, horizons, chat?.format ?? null]);
  return createHash('sha256').update(text).digest('hex');
}

export function matchesWebhook(
  { wallet, events, horizons }: Pick<WebhookDoc, 'wallet' | 'events' | 'horizons'>,
  event: Pick<AnyEvent, 'type' | 'horizonDays' | 'wallet'>,
): boolean {
  if (!events.includes(event.type) || (event.wallet !== null && event.wallet !== wallet)) return false;
  return horizons === null || event.horizonDays === null || horizons.includes(event.horizonDays);
}

export async function publishWebhookNotices({ db, log, now }: { db: Db; log: EventLog; now(): Date }): Promise<number> {
  const webhooks = db.collection<WebhookDoc>('webhooks');
  const docs = await findWithOutbox(webhooks);
  const drafts = docs.flatMap((doc) => doc.outbox.map((ending) => toNoticeDraft(doc, ending)));
  const appended = await log.append(
    drafts.sort((a, b) => a.at.getTime() - b.at.getTime() || a.key.localeCompare(b.key)),
    now(),
  );
  // Only after the events are in the log.
  await clearOutbox(webhooks, docs);
  return appended;
}

function toNoticeDraft({ _id, url, wallet }: WebhookDoc, ending: WebhookEnding): AnyEventDraft {
  const { change, at, reason, failingSince } = ending;
  const content = { webhookId: _id, url, reason, failingSince };
  const key = `webhook.disabled:${_id}:${change}`;
  return { type: 'webhook.disabled', key, at, horizonDays: null, wallet, content, ...pickTraceparent(ending) };
}

/** The body of a delivery, whose bytes are signed: the message itself, or as a chat takes it. @param publicUrl for links */
export function renderMessage({ chat }: Pick<WebhookDoc, 'chat'>, message: DeliveredMessage, publicUrl: string): string {
  if (chat === undefined) return JSON.stringify(message);
  const { format, chatId } = chat;
  return JSON.stringify(CHAT_FORMATS[format].render(describeMessage(message, publicUrl), { chatId }));
}
