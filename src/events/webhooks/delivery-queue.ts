import { createHash, randomUUID } from 'node:crypto';
import type { Collection, Db, Document, Filter } from 'mongodb';
import { Webhook } from 'standardwebhooks';
import { isOracleError } from '../../errors.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../forecast/day.ts';
import { type CollectionIndexes, insertInOrder, pickTraceparent } from '../../platform/mongo.ts';
import { type PostResult, postGuarded, type TargetRules } from '../../platform/outbound/guarded.ts';
import { confirmIfUncertain, repeatIfUncertain, undoIfUncertain } from '../../platform/retry.ts';
import type { SecretBox } from '../../platform/secrets.ts';
import { getTraceHeaders } from '../../platform/tracing.ts';
import type { PushedName } from '../events.ts';
import type { AnyEvent, EventLog } from '../log.ts';
import { CHAT_FORMATS, type ChatAnswer, type ChatName, openTargetUrl } from './formats.ts';
import { toSigningKey } from './signing.ts';
import { type Disablement, matchesWebhook, type WebhookDoc } from './store.ts';

/** Retention of the delivery log; shorter for requested replays and tests, which can be repeated. */
export const DELIVERY_RETENTION_DAYS = { live: 90, asked: 7 } as const;

const BY_POSITION = { webhookId: 1, position: 1 } as const;
/** State first: webhooks with pending messages are read off the index, one key each. */
const BY_STATE = { state: 1, webhookId: 1, position: 1 } as const;
const BY_ONCE = { once: 1 } as const;
const BY_TIME = { state: 1, nextAttemptAt: 1 } as const;
const BY_AGE = { cause: 1, createdAt: 1 } as const;

export const DELIVERY_INDEXES = [
  {
    collection: 'webhook_deliveries',
    indexes: [{ key: BY_POSITION, unique: true }, { key: BY_STATE }, { key: BY_ONCE, unique: true }, { key: BY_TIME }, { key: BY_AGE }],
  },
] as const satisfies CollectionIndexes[];

type QueueOwner = Pick<WebhookDoc, '_id' | 'wallet'>;

type DeliveryTransition = { state: 'PENDING'; nextAttemptAt: Date } | { state: Exclude<DeliveryState, 'PENDING'> };

export interface DeliveryQuery {
  limit: number;
  /** Cursor: only lower positions. */
  before?: number | undefined;
  state?: DeliveryState | undefined;
}

export interface QueueBacklog {
  pending: number;
  /** When the most overdue one was due; null without one. */
  oldestDueAt: Date | null;
}

export class DeliveryQueue {
  readonly #deliveries: Collection<WebhookDeliveryDoc>;

  constructor(db: Db) {
    this.#deliveries = db.collection('webhook_deliveries');
  }

  /** Returns the number of new messages. Each position is written only after its predecessor: safe under concurrent appends. */
  async append(webhook: QueueOwner, messages: readonly WebhookMessage[], now: Date): Promise<number> {
    let appended = 0;
    // After a conflict the messages of the other process are queued.
    for (;;) {
      const fresh = await this.#filterNew(webhook, messages);
      if (fresh.length === 0) break;
      const last = await this.#lastPosition(webhook._id);
      const docs = fresh.map((message, index) => ({ ...toPlace(webhook, last + 1 + index), ...toPending(webhook, message, now) }));
      const { inserted, complete } = await insertInOrder(this.#deliveries, docs);
      appended += inserted;
      if (complete) break;
    }
    // Even if nothing was new: the process that queued it may have died before this.
    if (messages.length > 0) await this.wake(webhook._id, now);
    return appended;
  }

  /** Due or not; null if none is pending. */
  findHead(webhookId: string): Promise<WebhookDeliveryDoc | null> {
    return this.#deliveries.findOne({ webhookId, state: 'PENDING' }, { sort: { position: 1 }, hint: BY_STATE });
  }

  /** Schedules the head of a queue for now, unless it is scheduled already, and returns it. */
  async wake(webhookId: string, now: Date): Promise<WebhookDeliveryDoc | null> {
    const head = await this.findHead(webhookId);
    if (head === null || head.nextAttemptAt !== null) return head;
    const { _id } = head;
    await this.#deliveries.updateOne({ _id, state: 'PENDING', nextAttemptAt: null }, { $set: { nextAttemptAt: now } }, BY_ID);
    return { ...head, nextAttemptAt: now };
  }

  listDue(now: Date, limit: number): Promise<WebhookDeliveryDoc[]> {
    return this.#deliveries
      .find({ state: 'PENDING', nextAttemptAt: { $lte: now } }, { hint: BY_TIME })
      .sort({ nextAttemptAt: 1 })
      .limit(limit)
      .toArray();
  }

  /** Depth of all queues and their most overdue message, without the events that are named. */
  async readBacklog(now: Date, { except }: { except: readonly PushedName[] }): Promise<QueueBacklog> {
    const waiting = { state: 'PENDING' as const, type: { $nin: [...except] } };
    const [pending, oldest] = await Promise.all([
      this.#deliveries.countDocuments(waiting, { hint: BY_STATE }),
      this.#deliveries.findOne({ ...waiting, nextAttemptAt: { $lte: now } }, { hint: BY_TIME, sort: { nextAttemptAt: 1 } }),
    ]);
    return { pending, oldestDueAt: oldest?.nextAttemptAt ?? null };
  }

  async listWaiting(): Promise<string[]> {
    const rows = await this.#deliveries.aggregate<{ _id: string }>(WAITING_WEBHOOKS, { hint: BY_STATE }).toArray();
    return rows.map(({ _id }) => _id);
  }

  /** Records an attempt and its transition by compare-and-set; false if another worker recorded one meanwhile. */
  async recordAttempt(doc: WebhookDeliveryDoc, attempt: DeliveryAttempt, transition: DeliveryTransition, now: Date): Promise<boolean> {
    const { _id, attempts } = doc;
    const over = { nextAttemptAt: null, finishedAt: now };
    const update = { $push: { attempts: attempt }, $set: transition.state === 'PENDING' ? transition : { ...transition, ...over } };
    const write = () => this.#deliveries.updateOne({ _id, state: 'PENDING', attempts: { $size: attempts.length } }, update, BY_ID);
    // Lost, the receiver would get the message again.
    return confirmIfUncertain(
      async () => (await write()).modifiedCount === 1,
      async () => (await this.#deliveries.findOne({ _id, [`attempts.${attempts.length}`]: attempt }, BY_ID)) && true,
    );
  }

  async postpone({ _id }: WebhookDeliveryDoc, until: Date): Promise<void> {
    await this.#deliveries.updateOne({ _id, state: 'PENDING' }, { $set: { nextAttemptAt: until } }, BY_ID);
  }

  /** Called when the receiver is likely to accept it. */
  async makeDue(webhookId: string, now: Date): Promise<void> {
    const head = await this.findHead(webhookId);
    if (head === null || head.nextAttemptAt === null || head.nextAttemptAt <= now) return;
    await this.#deliveries.updateOne({ _id: head._id, state: 'PENDING' }, { $set: { nextAttemptAt: now } }, BY_ID);
  }

  async hasPending(webhookId: string, causePrefix: string): Promise<boolean> {
    const query: Filter<WebhookDeliveryDoc> = { webhookId, state: 'PENDING', cause: { $gte: causePrefix, $lt: `${causePrefix}\uffff` } };
    return (await this.#deliveries.findOne(query, { projection: { _id: 1 }, hint: BY_STATE })) !== null;
  }

  /** Cancels messages queued up to `at`, when the webhook was disabled: later ones may follow its re-enabling. */
  async cancel(webhookId: string, at: Date): Promise<void> {
    const waiting = { webhookId, state: 'PENDING' as const, createdAt: { $lte: at } };
    const ended = { state: 'CANCELLED' as const, nextAttemptAt: null, finishedAt: at };
    await repeatIfUncertain(() => this.#deliveries.updateMany(waiting, { $set: ended }, { hint: BY_STATE }));
  }

  async deleteAll(webhookId: string): Promise<void> {
    await repeatIfUncertain(() => this.#deliveries.deleteMany({ webhookId }, { hint: BY_POSITION }));
  }

  list(webhookId: string, { limit, before, state }: DeliveryQuery): Promise<WebhookDeliveryDoc[]> {
    const filter: Filter<WebhookDeliveryDoc> = { webhookId };
    if (state !== undefined) filter.state = state;
    if (before !== undefined) filter.position = { $lt: before };
    return this.#deliveries
      .find(filter, { hint: state === undefined ? BY_POSITION : BY_STATE })
      .sort({ position: -1 })
      .limit(limit)
      .toArray();
  }

  /** Inserts a finished delivery that was never queued, i.e. a test. */
  async insertFinished(
    webhook: QueueOwner,
    done: Omit<WebhookDeliveryDoc, '_id' | 'webhookId' | 'wallet' | 'position'>,
  ): Promise<WebhookDeliveryDoc> {
    for (;;) {
      const doc = { ...done, ...toPlace(webhook, (await this.#lastPosition(webhook._id)) + 1) };
      if ((await insertInOrder(this.#deliveries, [doc])).complete) return doc;
    }
  }

  async purge(now: Date): Promise<void> {
    const { live, asked } = DELIVERY_RETENTION_DAYS;
    // `ping:` and `replay:` sort after `live`.
    for (const { cause, days } of [
      { cause: LIVE_CAUSE, days: live },
      { cause: { $gt: LIVE_CAUSE }, days: asked },
    ]) {
      const createdAt = { $lt: new Date(now.getTime() - days * DAY_MS) };
      await this.#deliveries.deleteMany({ cause, createdAt, state: { $ne: 'PENDING' } }, { hint: BY_AGE });
    }
  }

  async #filterNew({ _id }: QueueOwner, messages: readonly WebhookMessage[]): Promise<WebhookMessage[]> {
    if (messages.length === 0) return [];
    const once = { $in: messages.map((message) => buildOnceKey(_id, message)) };
    const known = await this.#deliveries.find({ once }, { projection: { once: 1 }, hint: BY_ONCE }).toArray();
    const knownKeys = new Set(known.map((row) => row.once));
    return messages.filter((message) => !knownKeys.has(buildOnceKey(_id, message)));
  }

  async #lastPosition(webhookId: string): Promise<number> {
    const options = { sort: { position: -1 }, projection: { position: 1 }, hint: BY_POSITION } as const;
    return (await this.#deliveries.findOne({ webhookId }, options))?.position ?? 0;
  }
}

const BY_ID = { hint: { _id: 1 } } as const;
const WAITING_WEBHOOKS: Document[] = [{ $match: { state: 'PENDING' } }, { $group: { _id: '$webhookId' } }];

function toPlace({ _id: webhookId, wallet }: QueueOwner, position: number) {
  return { _id: `${webhookId}:${position}`, webhookId, position, wallet };
}

function toPending({ _id }: QueueOwner, message: WebhookMessage, createdAt: Date) {
  const once = buildOnceKey(_id, message);
  return { ...message, once, state: 'PENDING' as const, attempts: [], nextAttemptAt: null, createdAt, finishedAt: null };
}

function buildOnceKey(webhookId: string, { eventId, cause }: Pick<WebhookDeliveryDoc, 'eventId' | 'cause'>): string {
  return `${webhookId}:${eventId}:${cause}`;
}

export interface FanOutDeps {
  db: Db;
  events: Pick<EventLog, 'after'>;
  queue: DeliveryQueue;
  now(): Date;
}

const PAGE_SIZE = 200;
const MAX_CONCURRENT_WRITES = 16;
const BY_PROGRESS = { status: 1, queuedThrough: 1 } as const;

export const FAN_OUT_INDEX = { key: BY_PROGRESS } as const;

/** Queues events for matching active webhooks, each once, in log order. Safe in any number of processes, also after a kill. */
export async function fanOutEvents(deps: FanOutDeps): Promise<void> {
  const webhooks = deps.db.collection<WebhookDoc>('webhooks');
  const options = { sort: { queuedThrough: 1 }, projection: { queuedThrough: 1 }, hint: BY_PROGRESS } as const;
  for (;;) {
    const furthestBehind = await webhooks.findOne({ status: 'active' }, options);
    const page = furthestBehind === null ? [] : await deps.events.after(furthestBehind.queuedThrough, PAGE_SIZE);
    if (page.length === 0) return;
    await queueEventPage(deps, webhooks, page);
  }
}

async function queueEventPage({ queue, now }: FanOutDeps, webhooks: Collection<WebhookDoc>, page: AnyEvent[]): Promise<void> {
  const through = page.at(-1)!._id;
  // Read after the events: a subscription changed before an event applies to it.
  const behind = await webhooks.find({ status: 'active', queuedThrough: { $lt: through } }, { hint: BY_PROGRESS }).toArray();
  const queueForWebhook = async (webhook: WebhookDoc) => {
    const events = page.filter((event) => event._id > webhook.queuedThrough && matchesWebhook(webhook, event));
    const messages = events.map((event) => toWebhookMessage(event, LIVE_CAUSE));
    if (messages.length > 0) await queue.append(webhook, messages, now());
  };
  for (let first = 0; first < behind.length; first += MAX_CONCURRENT_WRITES)
    await Promise.all(behind.slice(first, first + MAX_CONCURRENT_WRITES).map(queueForWebhook));
  // Only after the events are queued.
  const ids = behind.map(({ _id }) => _id);
  await webhooks.updateMany({ _id: { $in: ids } }, { $max: { queuedThrough: through } }, { hint: { _id: 1 } });
}

export const SENDER_LEASE_MS = 25_000;
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

/** Outcome of an attempt by Standard Webhooks. @param random from 0 to below 1 */
export function decideOutcome(
  { webhook, attempts, called }: { webhook: Pick<WebhookDoc, 'failingSince'>; attempts: number; called: WebhookCallResult },
  random: () => number,
): { verdict: DeliveryTransition; end: Omit<Disablement, 'at'> | null } {
  const { attempt, retryAfterSeconds, ended } = called;
  const { at, reason } = attempt;
  if (reason === null) return { verdict: { state: 'DELIVERED' }, end: null };
  const failingSince = webhook.failingSince ?? at;
  if (ended !== null) return { verdict: { state: 'CANCELLED' }, end: { by: 'receiver', reason: ended, failingSince } };
  if (at.getTime() - failingSince.getTime() >= DISABLE_AFTER_FAILING_MS) {
    const end = { by: 'failures', reason: `Every attempt has failed for five days; the last one: ${reason}`, failingSince } as const;
    return { verdict: { state: 'CANCELLED' }, end };
  }
  const nextAttemptAt = getNextAttemptAt({ attempts, at, retryAfterSeconds }, random);
  return { verdict: nextAttemptAt === null ? { state: 'FAILED' } : { state: 'PENDING', nextAttemptAt }, end: null };
}

/** Delays between attempts, as Standard Webhooks recommends; the first attempt has none. */
export const RETRY_DELAYS_MS = [
  5 * SECOND_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  14 * HOUR_MS,
  20 * HOUR_MS,
  24 * HOUR_MS,
] as const;

/** Maximum relative jitter: spreads the retries of receivers that failed together. */
export const RETRY_JITTER = 0.2;
/** A longer `Retry-After` is capped. */
export const MAX_RECEIVER_RETRY_AFTER_MS = 24 * HOUR_MS;
export const DISABLE_AFTER_FAILING_MS = 5 * 24 * HOUR_MS;

/** Null if none is left. A receiver may request a longer delay, not a shorter one. @param random from 0 to below 1 */
export function getNextAttemptAt(
  { attempts, at, retryAfterSeconds }: { attempts: number; at: Date; retryAfterSeconds: number | null },
  random: () => number,
): Date | null {
  const step = RETRY_DELAYS_MS[attempts - 1];
  if (step === undefined) return null;
  const asked = Math.min((retryAfterSeconds ?? 0) * SECOND_MS, MAX_RECEIVER_RETRY_AFTER_MS);
  return new Date(at.getTime() + Math.max(step, asked) + Math.floor(step * RETRY_JITTER * random()));
}

/** Covers name lookup, connection and response. */
export const WEBHOOK_CALL_TIMEOUT_MS = 15_000;

export interface CallWebhookDeps {
  box: SecretBox;
  targets: TargetRules;
  now(): Date;
  timeoutMs?: number;
}

type WebhookTarget = Pick<WebhookDoc, '_id' | 'sealedUrl' | 'chat' | 'sealedSecret' | 'previousSecret'>;

export interface WebhookRequest {
  messageId: string;
  body: string;
  signal?: AbortSignal;
}

export interface WebhookCallResult {
  attempt: DeliveryAttempt;
  retryAfterSeconds: number | null;
  /** Why the receiver wants no more calls; null otherwise. */
  ended: string | null;
}

/** Ends the subscription, by Standard Webhooks. */
const HTTP_GONE = 410;

/** Any behaviour of the receiver is an attempt. @throws OracleError CONFIG_INVALID for the secret or the URL; RATE_LIMITED, with nothing sent */
export async function callWebhook(deps: CallWebhookDeps, webhook: WebhookTarget, request: WebhookRequest): Promise<WebhookCallResult> {
  const { messageId, body, signal } = request;
  const at = deps.now();
  const headers = {
    'Content-Type': 'application/json',
    'User-Agent': 'bitcoin-signal-oracle',
    ...getTraceHeaders(),
    ...buildSignatureHeaders({ messageId, at, body }, openSigningSecrets(webhook, deps.box, at)),
  };
  const started = performance.now();
  const url = openTargetUrl(webhook, deps.box);
  const common = {
    url,
    headers,
    body,
    timeoutMs: deps.timeoutMs ?? WEBHOOK_CALL_TIMEOUT_MS,
    rules: deps.targets,
    ...(webhook.chat === undefined ? {} : { keepsAnswer: true as const }),
  };
  try {
    const result = await postGuarded({ ...common, ...(signal === undefined ? {} : { signal }) });
    const { reason, ...verdict } = judgeAnswer(webhook, result);
    return { attempt: { at, status: result.status, ms: result.durationMs, reason }, ...verdict };
  } catch (error) {
    if (!isOracleError(error) || error.code === 'RATE_LIMITED') throw error;
    const ms = Math.round(performance.now() - started);
    // Contains nothing that the receiver sent.
    const reason = error.code === 'TARGET_UNREACHABLE' ? `No answer (${error.details?.reason})` : error.message;
    return { attempt: { at, status: null, ms, reason }, retryAfterSeconds: null, ended: null };
  }
}

/** Headers of Standard Webhooks, with one signature per secret: during a rotation a receiver may know either secret. */
export function buildSignatureHeaders(
  { messageId, at, body }: { messageId: string; at: Date; body: string },
  secrets: readonly string[],
): Record<string, string> {
  const signatures = secrets.map((secret) => new Webhook(toSigningKey(secret), { format: 'raw' }).sign(messageId, at, body));
  return {
    'webhook-id': messageId,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
    'webhook-signature': signatures.join(' '),
  };
}

/** The current signing secrets, newest first. @throws OracleError CONFIG_INVALID if they are encrypted under another master secret */
export function openSigningSecrets(doc: Pick<WebhookDoc, '_id' | 'sealedSecret' | 'previousSecret'>, box: SecretBox, now: Date): string[] {
  const { _id, sealedSecret, previousSecret } = doc;
  const previous = previousSecret !== null && previousSecret.validUntil > now ? [previousSecret.sealed] : [];
  return [sealedSecret, ...previous].map((sealed) => box.open('webhook-secret', _id, sealed));
}

function judgeAnswer({ chat }: WebhookTarget, { status, retryAfterSeconds, answer }: PostResult): ChatVerdict {
  if (chat !== undefined) return judgeChatAnswer(chat.format, { status, retryAfterSeconds, text: answer ?? '' });
  const reason = status >= 200 && status < 300 ? null : formatFailedStatus(status);
  return { reason, retryAfterSeconds, ended: status === HTTP_GONE ? 'The receiver answered 410 Gone' : null };
}

interface ChatVerdict {
  /** Why the message was not accepted, without any text of the answer; null if it was. */
  reason: string | null;
  /** When it may be sent again; null where the answer does not say. */
  retryAfterSeconds: number | null;
  /** Why the address accepts no message any more; null otherwise. */
  ended: string | null;
}

/** The verdict on an answer by the rules of a chat. Nothing of its text is taken over. */
export function judgeChatAnswer(format: ChatName, answer: ChatAnswer): ChatVerdict {
  const { label, isAccepted, isEnded } = CHAT_FORMATS[format];
  const { status, retryAfterSeconds } = answer;
  if (status >= 200 && status < 300) {
    const reason = isAccepted(answer) ? null : `HTTP ${status}, in which ${label} does not confirm the message`;
    return { reason, retryAfterSeconds, ended: null };
  }
  const ended = isEnded(answer) ? `${label} answered ${status}: the address does not exist any more` : null;
  return { reason: formatFailedStatus(status), retryAfterSeconds, ended };
}

/** @param status not of success */
function formatFailedStatus(status: number): string {
  return status >= 300 && status < 400 ? `HTTP ${status}: redirects are not followed` : `HTTP ${status}`;
}

/** PENDING: queued or waiting for a retry. FAILED: no attempts left. CANCELLED: the webhook was disabled. */
export const DELIVERY_STATES = ['PENDING', 'DELIVERED', 'FAILED', 'CANCELLED'] as const;

type DeliveryState = (typeof DELIVERY_STATES)[number];

export interface DeliveryAttempt {
  at: Date;
  /** HTTP status; null without a response. */
  status: number | null;
  ms: number;
  /** Reason of the failure; null for a delivery. */
  reason: string | null;
}

/** One message to one webhook. `_id` is `<webhook>:<position>`; positions count from 1 in queue order, with gaps after expiry. */
export interface WebhookDeliveryDoc {
  _id: string;
  webhookId: string;
  position: number;
  wallet: string;
  /** Null for a test ping. */
  eventId: number | null;
  type: PushedName | 'ping';
  /** The `webhook-id` header: constant over all retries and replays of an event. */
  messageId: string;
  /** `live`, `replay:<uuid>` or `ping:<uuid>`. */
  cause: string;
  /** Idempotency key `<webhook>:<event>:<cause>`. */
  once: string;
  state: DeliveryState;
  attempts: DeliveryAttempt[];
  /** Earliest next attempt; null behind the head of the queue, and when finished. */
  nextAttemptAt: Date | null;
  createdAt: Date;
  finishedAt: Date | null;
  /** Of the request or job that caused it. */
  traceparent?: string;
}

export type WebhookMessage = Pick<WebhookDeliveryDoc, 'eventId' | 'messageId' | 'cause' | 'traceparent'> & { type: PushedName };

const LIVE_CAUSE = 'live';

/** @param cause `live`, or that of a replay: the same event is queued once per cause */
export function toWebhookMessage(event: AnyEvent, cause: string): WebhookMessage {
  const { _id, type, key } = event;
  return { eventId: _id, type, messageId: buildMessageId(key), cause, ...pickTraceparent(event) };
}

/** `webhook-id` of an event: constant over retries, endpoints and processes. */
export function buildMessageId(key: string): string {
  return `evt_${createHash('sha256').update(key).digest('hex').slice(0, 32)}`;
}
