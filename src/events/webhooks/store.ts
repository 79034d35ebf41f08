import type { Db } from 'mongodb';
import type { MoveSize } from '../../forecast/move.ts';
import { clearOutbox, findWithOutbox, type OutboxEntry, pickTraceparent } from '../../platform/mongo.ts';
import type { PushedName } from '../events.ts';
import { type AnyEvent, type AnyEventDraft, type EventLog, passesMoveFilter } from '../log.ts';
import { CHAT_FORMATS, type DeliveredMessage, describeMessage, type StoredTarget } from './formats.ts';

export interface Disablement {
  by: Exclude<Disabler, 'operator'>;
  reason: string;
  at: Date;
  failingSince: Date | null;
}

/** `disabled`: receives nothing until it is enabled. `suspended`: the wallet has lost its tier; events wait in the log. */
export const WEBHOOK_STATUSES = ['active', 'suspended', 'disabled'] as const;

export type WebhookStatus = (typeof WEBHOOK_STATUSES)[number];

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
  /** Digest of wallet, target and subscription: rejects duplicates. */
  fingerprint: string;
  /** Time of the last change of URL or chat; unset before the first. */
  urlSetAt?: Date;
  /** In the order of `PUSHED_NAMES`. */
  events: PushedName[];
  /** Days; null: all horizons. */
  horizons: number[] | null;
  /** Null, and unset in webhooks from before it: no filter. */
  moveSize?: MoveSize[] | null;
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

export function matchesWebhook(
  { wallet, events, horizons, moveSize = null }: Pick<WebhookDoc, 'wallet' | 'events' | 'horizons' | 'moveSize'>,
  event: Pick<AnyEvent, 'type' | 'horizonDays' | 'wallet' | 'content'>,
): boolean {
  if (!events.includes(event.type) || (event.wallet !== null && event.wallet !== wallet)) return false;
  if (!passesMoveFilter(event, moveSize)) return false;
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
