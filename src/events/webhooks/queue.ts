import { createHash, randomUUID } from 'node:crypto';
import type { Collection, Db, Document } from 'mongodb';
import type { Caller, Tier } from '../../auth/caller.ts';
import { isOracleError, orElse } from '../../errors.ts';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../forecast/day.ts';
import type { MoveSize } from '../../forecast/move.ts';
import { WakeSignal } from '../../platform/concurrency.ts';
import type { Log } from '../../platform/log.ts';
import {
  type CollectionIndexes,
  clearOutbox,
  createOutboxEntry,
  findWithOutbox,
  insertInOrder,
  OUTBOX_INDEX,
  type OutboxEntry,
  pickTraceparent,
} from '../../platform/mongo.ts';
import { attemptAndKeepTrying, confirmIfUncertain, repeatIfUncertain } from '../../platform/retry.ts';
import type { TrustedTime } from '../../platform/time.ts';
import { inEntry, parseTraceparent } from '../../platform/tracing.ts';
import { type EventViewOptions, viewEvent } from '../event-view.ts';
import type { PushedName } from '../events.ts';
import { type AnyEvent, type AnyEventDraft, type EventLog, passesMoveFilter } from '../log.ts';
import { type CallWebhookDeps, callWebhook, type DeliveryAttempt, WEBHOOK_CALL_TIMEOUT_MS, type WebhookTarget } from './call.ts';
import { renderMessage } from './formats.ts';

/** `disabled`: receives nothing until it is enabled. `suspended`: the wallet has lost its tier; events wait in the log. */
export const WEBHOOK_STATUSES = ['active', 'suspended', 'disabled'] as const;

/** The operator (permanently), the receiver (by a 410 response; chats by more, see their formats), or failures over five days. */
export const DISABLERS = ['operator', 'receiver', 'failures'] as const;

export interface WebhookDoc extends WebhookTarget {
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
  secretSetAt: Date;
  status: (typeof WEBHOOK_STATUSES)[number];
  suspendedAt?: Date | null;
  disabledAt: Date | null;
  disabledReason: string | null;
  disabledBy: (typeof DISABLERS)[number] | null;
  /** First failure since the last success. */
  failingSince: Date | null;
  /** Id of the last event matched against it: matching events up to there are queued. */
  queuedThrough: number;
  testedAt?: Date;
  /** While a replay is being queued, by the database's clock. */
  replays?: { claimedUntil: Date };
  /** Disablements, kept as of their time: the webhook may be enabled again before its notice is published. */
  outbox?: (OutboxEntry<`disabled:${number}`> & { reason: string; failingSince: Date | null })[];
  createdAt: Date;
}

/** PENDING: queued or waiting for a retry. FAILED: no attempts left. CANCELLED: the webhook was disabled. */
export const DELIVERY_STATES = ['PENDING', 'DELIVERED', 'FAILED', 'CANCELLED'] as const;

type DeliveryState = (typeof DELIVERY_STATES)[number];

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
  /** Earliest next attempt, by the database's clock; null behind the head of the queue, and when finished. */
  nextAttemptAt: Date | null;
  /** Of the worker that sends it, by the database's clock. Only heads are sent, so a webhook has one sender, which keeps the order. */
  lease?: { holder: string; until: Date } | null;
  createdAt: Date;
  finishedAt: Date | null;
  /** Of the request or job that caused it. */
  traceparent?: string;
}

type WebhookMessage = Pick<WebhookDeliveryDoc, 'eventId' | 'messageId' | 'cause' | 'traceparent'> & { type: PushedName };

type QueueOwner = Pick<WebhookDoc, '_id' | 'wallet'>;

const BY_ID = { hint: { _id: 1 } } as const;
const BY_PROGRESS = { status: 1, queuedThrough: 1 } as const;
const BY_POSITION = { webhookId: 1, position: 1 } as const;
/** State first: webhooks with pending messages are read off the index, one key each. */
const BY_STATE = { state: 1, webhookId: 1, position: 1 } as const;
const BY_ONCE = { once: 1 } as const;
const BY_TIME = { state: 1, nextAttemptAt: 1 } as const;
const BY_AGE = { cause: 1, createdAt: 1 } as const;

export const WEBHOOK_INDEXES = [
  {
    collection: 'webhooks',
    indexes: [{ key: { wallet: 1, slot: 1 }, unique: true }, { key: { fingerprint: 1 }, unique: true }, { key: BY_PROGRESS }, OUTBOX_INDEX],
  },
  {
    collection: 'webhook_deliveries',
    indexes: [{ key: BY_POSITION, unique: true }, { key: BY_STATE }, { key: BY_ONCE, unique: true }, { key: BY_TIME }, { key: BY_AGE }],
  },
] as const satisfies CollectionIndexes[];

/** Retention of the delivery log; shorter for requested replays and tests, which can be repeated. */
export const DELIVERY_RETENTION_DAYS = { live: 90, asked: 7 } as const;

export interface DeliveryQuery {
  limit: number;
  /** Cursor: only lower positions. */
  before?: number | undefined;
  state?: DeliveryState | undefined;
}

/** A message that this process alone may send for now. */
interface Claim {
  delivery: WebhookDeliveryDoc;
  /** Monotonic local milliseconds after which the lease may have expired. */
  expiresAtMs: number;
}

/** What becomes of a claimed message: without `attempt` it was not sent. */
interface Outcome {
  state: DeliveryState;
  attempt?: DeliveryAttempt;
  /** Time until the next attempt of a pending one. */
  delayMs?: number;
}

export class DeliveryQueue {
  readonly #deliveries: Collection<WebhookDeliveryDoc>;
  readonly #now: () => Date | '$$NOW';

  /** @param now default: the database's clock, since those of processes differ */
  constructor(db: Db, now: () => Date | '$$NOW' = () => '$$NOW') {
    this.#deliveries = db.collection('webhook_deliveries');
    this.#now = now;
  }

  /** Queues what is not queued yet. Safe under concurrent appends. */
  async append(webhook: QueueOwner, messages: readonly WebhookMessage[], createdAt: Date): Promise<void> {
    const wanted = messages.map((message) => {
      const once = `${webhook._id}:${message.eventId}:${message.cause}`;
      return { ...message, once, state: 'PENDING' as const, attempts: [], nextAttemptAt: null, createdAt, finishedAt: null };
    });
    for (;;) {
      const once = { $in: wanted.map((doc) => doc.once) };
      const known = new Set(await this.#deliveries.distinct('once', { once }, { hint: BY_ONCE }));
      const fresh = wanted.filter((doc) => !known.has(doc.once));
      // After a conflict the messages of the other process are queued.
      if (fresh.length === 0 || (await this.#insert(webhook, fresh))) break;
    }
    // Even if nothing was new: the process that queued it may have died before this.
    await this.wake(webhook._id);
  }

  /** Inserts a finished delivery that was never queued, i.e. a test. */
  async insertFinished(webhook: QueueOwner, done: UnplacedDelivery): Promise<WebhookDeliveryDoc> {
    for (;;) {
      const placed = await this.#insert(webhook, [done]);
      if (placed !== null) return placed[0]!;
    }
  }

  /** Each position is written only after its predecessor. Null after a conflict. */
  async #insert({ _id: webhookId, wallet }: QueueOwner, docs: readonly UnplacedDelivery[]): Promise<WebhookDeliveryDoc[] | null> {
    const options = { sort: { position: -1 }, projection: { position: 1 }, hint: BY_POSITION } as const;
    const first = ((await this.#deliveries.findOne({ webhookId }, options))?.position ?? 0) + 1;
    const placed = docs.map((doc, index) => ({ ...doc, _id: `${webhookId}:${first + index}`, webhookId, wallet, position: first + index }));
    return (await insertInOrder(this.#deliveries, placed)).complete ? placed : null;
  }

  /** Makes the head of a queue due if it has no time yet. */
  wake(webhookId: string): Promise<void> {
    return this.#schedule(webhookId, { $ifNull: ['$nextAttemptAt', this.#now()] });
  }

  /** Makes the head due whatever its time. Called when the receiver is likely to accept it. */
  makeDue(webhookId: string): Promise<void> {
    return this.#schedule(webhookId, { $min: ['$nextAttemptAt', this.#now()] });
  }

  async #schedule(webhookId: string, nextAttemptAt: Document): Promise<void> {
    const options = { sort: { position: 1 }, projection: { _id: 1 }, hint: BY_STATE } as const;
    const write = () => this.#deliveries.findOneAndUpdate({ webhookId, state: 'PENDING' }, [{ $set: { nextAttemptAt } }], options);
    await repeatIfUncertain(write);
  }

  /** A head has a time beyond any delay where a clock ran ahead. */
  async repairTimes(): Promise<void> {
    const now = this.#now();
    const isPostponed = { $expr: { $gt: ['$nextAttemptAt', { $add: [now, MAX_DELAY_MS] }] } };
    const postponed = { state: 'PENDING' as const, nextAttemptAt: { $ne: null }, ...isPostponed };
    await this.#deliveries.updateMany(postponed, [{ $set: { nextAttemptAt: now } }], { hint: BY_TIME });
  }

  /** A head has no time where the worker died that finished its predecessor. */
  async wakeAll(): Promise<void> {
    const heads = this.#deliveries.aggregate<{ _id: string }>(UNSCHEDULED_HEADS, { hint: BY_STATE });
    for await (const { _id } of heads) await this.wake(_id);
  }

  /** Leases the message that is due for longest; null if none is. */
  async claim(leaseMs: number): Promise<Claim | null> {
    const now = this.#now();
    const isFree = { $and: [{ $lte: ['$nextAttemptAt', now] }, { $lte: ['$lease.until', now] }] };
    const due = { state: 'PENDING' as const, nextAttemptAt: { $ne: null }, $expr: isFree };
    const lease = { holder: randomUUID(), until: { $add: [now, leaseMs] } };
    // Computed before the database sets the expiry: the local one is never later.
    const expiresAtMs = performance.now() + leaseMs;
    const options = { sort: { nextAttemptAt: 1 }, hint: BY_TIME, returnDocument: 'after' } as const;
    const delivery = await this.#deliveries.findOneAndUpdate(due, [{ $set: { lease } }], options);
    return delivery && { delivery, expiresAtMs };
  }

  /** Makes the head of a queue due if it has no time yet, and leases it if it is due. Null if it is not, or there is none. */
  async claimNext(webhookId: string, leaseMs: number): Promise<Claim | null> {
    const now = this.#now();
    const holder = randomUUID();
    const isDue = { $lte: [{ $ifNull: ['$nextAttemptAt', now] }, now] };
    const lease = { $cond: [{ $and: [isDue, { $lte: ['$lease.until', now] }] }, { holder, until: { $add: [now, leaseMs] } }, '$lease'] };
    const change = [{ $set: { nextAttemptAt: { $ifNull: ['$nextAttemptAt', now] }, lease } }];
    const expiresAtMs = performance.now() + leaseMs;
    const options = { sort: { position: 1 }, hint: BY_STATE, returnDocument: 'after' } as const;
    // Not a filter: it would find the next but one. Repeated, it finds the lease of its holder.
    const head = await repeatIfUncertain(() => this.#deliveries.findOneAndUpdate({ webhookId, state: 'PENDING' }, change, options));
    return head?.lease?.holder === holder ? { delivery: head, expiresAtMs } : null;
  }

  /** Writes down what became of a claimed message. Without effect once another worker has claimed it, or it was cancelled. */
  async release({ _id, lease }: WebhookDeliveryDoc, { state, attempt, delayMs = 0 }: Outcome): Promise<void> {
    const isOver = state !== 'PENDING';
    const times = isOver ? { nextAttemptAt: null, finishedAt: attempt?.at ?? null } : { nextAttemptAt: { $add: [this.#now(), delayMs] } };
    const made = attempt && { attempts: { $concatArrays: ['$attempts', { $literal: [attempt] }] } };
    const { holder } = lease!;
    const own = { _id, state: 'PENDING' as const, 'lease.holder': holder };
    // Lost, the receiver would get the message again.
    await confirmIfUncertain<object>(
      () => this.#deliveries.updateOne(own, [{ $set: { state, lease: null, ...times, ...made } }], BY_ID),
      () => this.#deliveries.findOne({ _id, 'lease.holder': { $ne: holder } }, BY_ID),
    );
  }

  async hasPending(webhookId: string, cause: RegExp): Promise<boolean> {
    return (await this.#deliveries.findOne({ webhookId, state: 'PENDING', cause }, { projection: { _id: 1 }, hint: BY_STATE })) !== null;
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

  /** Newest first. */
  list(webhookId: string, { limit, before, state }: DeliveryQuery): Promise<WebhookDeliveryDoc[]> {
    const filter = { webhookId, ...(state && { state }), ...(before !== undefined && { position: { $lt: before } }) };
    return this.#deliveries.find(filter, { sort: { position: -1 }, limit, hint: state ? BY_STATE : BY_POSITION }).toArray();
  }

  /** Depth of all queues, and when the most overdue message was due (null without one), without the events that are named. */
  async readBacklog(now: Date, { except }: { except: readonly PushedName[] }): Promise<{ pending: number; oldestDueAt: Date | null }> {
    const waiting = { state: 'PENDING' as const, type: { $nin: [...except] } };
    const [pending, oldest] = await Promise.all([
      this.#deliveries.countDocuments(waiting, { hint: BY_STATE }),
      this.#deliveries.findOne({ ...waiting, nextAttemptAt: { $lte: now } }, { hint: BY_TIME, sort: { nextAttemptAt: 1 } }),
    ]);
    return { pending, oldestDueAt: oldest?.nextAttemptAt ?? null };
  }
}

type UnplacedDelivery = Omit<WebhookDeliveryDoc, '_id' | 'webhookId' | 'wallet' | 'position'>;

/** One key of the index for each webhook. */
const UNSCHEDULED_HEADS: Document[] = [
  { $match: { state: 'PENDING' } },
  { $sort: { webhookId: 1, position: 1 } },
  { $group: { _id: '$webhookId', nextAttemptAt: { $first: '$nextAttemptAt' } } },
  { $match: { nextAttemptAt: null } },
];

const LIVE_CAUSE = 'live';

/** @param cause default: `live`; the same event is queued once per cause */
export function toWebhookMessage(event: AnyEvent, cause = LIVE_CAUSE): WebhookMessage {
  const { _id, type, key } = event;
  return { eventId: _id, type, messageId: buildMessageId(key), cause, ...pickTraceparent(event) };
}

/** `webhook-id` of an event: constant over retries, endpoints and processes. */
export function buildMessageId(key: string): string {
  return `evt_${createHash('sha256').update(key).digest('hex').slice(0, 32)}`;
}

export function matchesWebhook(
  { wallet, events, horizons, moveSize = null }: Pick<WebhookDoc, 'wallet' | 'events' | 'horizons' | 'moveSize'>,
  event: Pick<AnyEvent, 'type' | 'horizonDays' | 'wallet' | 'content'>,
): boolean {
  if (!events.includes(event.type) || (event.wallet !== null && event.wallet !== wallet)) return false;
  if (!passesMoveFilter(event, moveSize)) return false;
  return horizons === null || event.horizonDays === null || horizons.includes(event.horizonDays);
}

export interface WebhookWorkerDeps extends CallWebhookDeps {
  db: Db;
  queue: DeliveryQueue;
  events: Pick<EventLog, 'after' | 'event'>;
  /** Moves pending changes into the event log. */
  publish(): Promise<unknown>;
  /** Current tier of a wallet, in lower case. @throws OracleError CHAIN_UNREACHABLE */
  tierOf(wallet: string): Promise<Tier>;
  view: EventViewOptions;
  /** Nothing is sent while the clocks disagree: receivers reject signatures by their time. */
  time: Pick<TrustedTime, 'findDisagreement'>;
  log: Log;
  /** Aborted when the stop begins: no new call starts. */
  stopping: AbortSignal;
  /** Aborted when calls in flight must end. */
  abortCalls: AbortSignal;
  /** Called with each attempt that reached a result. */
  observeAttempt?(delivery: WebhookDeliveryDoc, attempt: DeliveryAttempt): void;
  /** From 0 to below 1. */
  random?(): number;
  leaseMs?: number;
  /** Lease time reserved beyond the time limit of a call. */
  marginMs?: number;
  pollMs?: number;
}

const CONCURRENCY = 16;
const POLL_MS = 1_000;
/** In the first round too: a killed worker may have left messages. */
const ROUNDS_PER_SWEEP = 5;
/** Rarely: it reads every head that waits. */
const ROUNDS_PER_REPAIR = 600;

/** Queues events and delivers messages, until the stop; then `ended` resolves, after calls in flight. Any number of processes may run it. */
export function startWebhookWorker(deps: WebhookWorkerDeps): { wake(): void; ended: Promise<void> } {
  const { queue, log, stopping, pollMs = POLL_MS } = deps;
  const wakeSignal = new WakeSignal(stopping);
  const failing = new Set<string>();
  const drains = new Set<Promise<void>>();

  /** The failure of a part stops no other; it is logged once until the part succeeds. */
  async function isolate(what: string, work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
      failing.delete(what);
    } catch (error) {
      if (!failing.has(what)) log.error({ err: error, failed: what }, 'webhooks could not be looked after: trying again');
      failing.add(what);
    }
  }

  /** One that finds a message starts the next, up to the limit. */
  function startDrain(): void {
    if (drains.size >= CONCURRENCY) return;
    const drain = isolate('deliver', () => deliverDue(deps, startDrain)).finally(() => drains.delete(drain));
    drains.add(drain);
  }

  async function run(): Promise<void> {
    for (let round = 0; !stopping.aborted; round++) {
      await isolate('publish', () => deps.publish());
      await isolate('fan out', () => fanOutEvents(deps));
      if (round % ROUNDS_PER_REPAIR === 0) await isolate('repair', () => queue.repairTimes());
      if (round % ROUNDS_PER_SWEEP === 0) await isolate('wake', () => queue.wakeAll());
      startDrain();
      await wakeSignal.sleep(pollMs);
    }
    await Promise.all(drains);
  }

  return { wake: () => wakeSignal.wake(), ended: run() };
}

const PAGE_SIZE = 200;
const MAX_CONCURRENT_WRITES = 16;

/** Queues events for matching active webhooks, each once, in log order. Safe in any number of processes, also after a kill. */
export async function fanOutEvents({ db, events, queue, now }: Pick<WebhookWorkerDeps, 'db' | 'events' | 'queue' | 'now'>): Promise<void> {
  const webhooks = db.collection<WebhookDoc>('webhooks');
  for (;;) {
    const furthestBehind = await webhooks.findOne({ status: 'active' }, { sort: { queuedThrough: 1 }, hint: BY_PROGRESS });
    const page = furthestBehind === null ? [] : await events.after(furthestBehind.queuedThrough, PAGE_SIZE);
    const through = page.at(-1)?._id;
    if (through === undefined) return;
    // Read after the events: a subscription changed before an event applies to it.
    const behind = await webhooks.find({ status: 'active', queuedThrough: { $lt: through } }, { hint: BY_PROGRESS }).toArray();
    const queueForWebhook = async (webhook: WebhookDoc) => {
      const matching = page.filter((event) => event._id > webhook.queuedThrough && matchesWebhook(webhook, event));
      if (matching.length > 0)
        await queue.append(
          webhook,
          matching.map((event) => toWebhookMessage(event)),
          now(),
        );
    };
    for (let first = 0; first < behind.length; first += MAX_CONCURRENT_WRITES)
      await Promise.all(behind.slice(first, first + MAX_CONCURRENT_WRITES).map(queueForWebhook));
    // Only after the events are queued.
    await webhooks.updateMany({ _id: { $in: behind.map(({ _id }) => _id) } }, { $max: { queuedThrough: through } }, BY_ID);
  }
}

const LEASE_MS = 25_000;
const LEASE_MARGIN_MS = 5_000;
export const TIER_RECHECK_MS = 5 * MINUTE_MS;
/** Delay when no attempt was made; not counted as an attempt. */
const POSTPONE_MS = { busy: 1_000, spent: 5_000, failed: 5_000, unreadable: 60_000, sealed: 60_000 } as const;

/** Messages of one webhook that are sent before those of others. */
const TURN = 8;

/** Sends one message after another until none is due, or the stop. @param onFirst called when there is one */
export async function deliverDue(deps: WebhookWorkerDeps, onFirst?: () => void): Promise<void> {
  const { queue, log, time, stopping, leaseMs = LEASE_MS } = deps;
  const mayGoOn = async () => !stopping.aborted && (await time.findDisagreement()) === null;
  let claim = (await mayGoOn()) ? await queue.claim(leaseMs) : null;
  if (claim !== null) onFirst?.();
  for (let ofTurn = 1; claim !== null; ) {
    const { delivery }: Claim = claim;
    const { webhookId } = delivery;
    let isOver = false;
    try {
      const outcome = await sendClaimed(deps, claim);
      isOver = outcome.state !== 'PENDING';
      await queue.release(delivery, outcome);
    } catch (error) {
      log.error({ err: error, webhook: webhookId }, 'a webhook could not be sent to: trying again');
      await attemptAndKeepTrying(() => queue.release(delivery, later('failed')), leaseMs);
    }
    const isGoingOn = await mayGoOn();
    claim = isGoingOn && isOver && ofTurn < TURN ? await queue.claimNext(webhookId, leaseMs) : null;
    if (claim !== null) ofTurn += 1;
    else {
      await queue.wake(webhookId);
      claim = isGoingOn ? await queue.claim(leaseMs) : null;
      ofTurn = 1;
    }
  }
}

const later = (why: keyof typeof POSTPONE_MS): Outcome => ({ state: 'PENDING', delayMs: POSTPONE_MS[why] });

async function sendClaimed(deps: WebhookWorkerDeps, { delivery, expiresAtMs }: Claim): Promise<Outcome> {
  const { db, queue, events, view, log, now, stopping, abortCalls, timeoutMs = WEBHOOK_CALL_TIMEOUT_MS, marginMs = LEASE_MARGIN_MS } = deps;
  const { webhookId, wallet, eventId, type, messageId, traceparent } = delivery;
  // Before the status is read: what is queued after a webhook is enabled again is not cancelled.
  const at = now();
  const webhook = await db.collection<WebhookDoc>('webhooks').findOne({ _id: webhookId }, BY_ID);
  if (webhook === null) await queue.deleteAll(webhookId);
  else if (webhook.status === 'disabled') await queue.cancel(webhookId, at);
  if (webhook === null || webhook.status === 'disabled') return { state: 'CANCELLED' };
  const event = eventId === null ? null : await events.event(eventId);
  if (event === null) return { state: 'FAILED', attempt: { at, status: null, ms: 0, reason: 'The event is no longer kept' } };
  const tier = await readTier(deps, webhook);
  if (typeof tier === 'object') return tier;
  const caller: Caller = { tier, wallet: wallet as Caller['wallet'] & string };
  const body = renderMessage(webhook, viewEvent(event, caller, view), view.publicUrl);
  // A message in flight when the lease expires could be overtaken.
  if (stopping.aborted || performance.now() + timeoutMs + marginMs > expiresAtMs) return { state: 'PENDING' };
  const span = { name: `webhook ${type}`, kind: 'client', parent: parseTraceparent(traceparent), fields: {} } as const;
  const called = await inEntry(span, () => callWebhook(deps, webhook, { messageId, body, signal: abortCalls })).catch((error: unknown) => {
    // Full name lookups and an undecryptable secret or URL are not failures of the receiver.
    if (isOracleError(error, 'RATE_LIMITED')) return 'busy' as const;
    if (!isOracleError(error, 'CONFIG_INVALID')) throw error;
    log.error({ err: error, webhook: webhookId }, 'the secret of a webhook does not open: nothing is sent to it');
    return 'sealed' as const;
  });
  if (typeof called === 'string') return later(called);
  // Aborted by this process: delivery is unknown, and not a failure of the receiver.
  if (abortCalls.aborted && called.attempt.status === null) return { state: 'PENDING' };
  deps.observeAttempt?.(delivery, called.attempt);
  return settleAttempt(deps, { webhook, delivery, called });
}

/** The tier of the owner, or what follows from it: without one the webhook is suspended, and is resumed once it is back. */
async function readTier({ db, tierOf, log, now }: WebhookWorkerDeps, { _id, wallet, status }: WebhookDoc): Promise<Tier | Outcome> {
  const tier = await tierOf(wallet).catch(orElse('CHAIN_UNREACHABLE', null));
  if (tier === null) return later('unreadable');
  if ((tier === 'public') === (status === 'suspended')) return tier === 'public' ? { state: 'PENDING', delayMs: TIER_RECHECK_MS } : tier;
  const change =
    tier === 'public' ? { status: 'suspended' as const, suspendedAt: now() } : { status: 'active' as const, suspendedAt: null };
  await db.collection<WebhookDoc>('webhooks').updateOne({ _id, status }, { $set: change }, BY_ID);
  if (tier === 'public') log.info({ webhook: _id }, 'a webhook is suspended: its wallet has lost the Basic tier');
  return { state: 'PENDING', delayMs: tier === 'public' ? TIER_RECHECK_MS : 0 };
}

type Called = Exclude<Awaited<ReturnType<typeof callWebhook>>, string>;

/** Writes down what the attempt says of the webhook. Disables it before the delivery is finished: after a crash in between, the notice still explains the end. */
async function settleAttempt(
  { db, log, random = Math.random }: WebhookWorkerDeps,
  { webhook, delivery, called }: { webhook: WebhookDoc; delivery: WebhookDeliveryDoc; called: Called },
): Promise<Outcome> {
  const webhooks = db.collection<WebhookDoc>('webhooks');
  const { attempt } = called;
  const { _id, targetKey, urlSetAt, failingSince } = webhook;
  const before = urlSetAt === undefined ? delivery.attempts : delivery.attempts.filter(({ at }) => at >= urlSetAt);
  const { end, ...outcome } = decideOutcome({ failingSince, attempts: before.length + 1, called }, random);
  if (outcome.state === 'DELIVERED') {
    if (failingSince !== null)
      await repeatIfUncertain(() => webhooks.updateOne({ _id, targetKey }, { $set: { failingSince: null } }, BY_ID));
    return { ...outcome, attempt };
  }
  const failed = [{ $set: { failingSince: { $ifNull: ['$failingSince', attempt.at] } } }];
  const counts =
    end === null
      ? (await repeatIfUncertain(() => webhooks.updateOne({ _id, targetKey }, failed, BY_ID))).matchedCount === 1
      : await endWebhook(db, webhook, { ...end, at: attempt.at });
  // A response of the previous URL does not count for the new one, which is called now.
  if (!counts) return { state: 'PENDING', attempt };
  if (end !== null) log.warn({ webhook: _id, by: end.by, reason: end.reason }, 'a webhook was disabled');
  return { ...outcome, attempt };
}

/** Disables an active webhook and, in the same write, adds the owner's notice to its outbox. False if it was disabled or its target changed. */
export async function endWebhook(
  db: Db,
  { _id, targetKey }: Pick<WebhookDoc, '_id' | 'targetKey'>,
  { by, reason, at, failingSince }: { by: 'receiver' | 'failures'; reason: string; at: Date; failingSince: Date | null },
): Promise<boolean> {
  const webhooks = db.collection<WebhookDoc>('webhooks');
  const ended = { status: 'disabled' as const, disabledAt: at, disabledReason: reason, disabledBy: by, failingSince };
  const ending = { ...createOutboxEntry(`disabled:${at.getTime()}` as const, at), reason, failingSince };
  const change = { $set: ended, $push: { outbox: ending } };
  return confirmIfUncertain(
    async () => (await webhooks.updateOne({ _id, targetKey, status: 'active' }, change, BY_ID)).modifiedCount === 1,
    async () => (await webhooks.findOne({ _id, targetKey, disabledBy: by, disabledAt: at }, BY_ID)) && true,
  );
}

/** Delays between attempts, as Standard Webhooks recommends; the first attempt has none. */
export const RETRY_DELAYS_MS = [5 * SECOND_MS, 5 * MINUTE_MS, 30 * MINUTE_MS, ...[2, 5, 10, 14, 20, 24].map((hours) => hours * HOUR_MS)];

/** Maximum relative jitter: spreads the retries of receivers that failed together. */
export const RETRY_JITTER = 0.2;
/** A longer `Retry-After` is capped. */
const MAX_RETRY_AFTER_MS = 24 * HOUR_MS;
const MAX_DELAY_MS = MAX_RETRY_AFTER_MS * (1 + RETRY_JITTER);
export const DISABLE_AFTER_FAILING_MS = 5 * 24 * HOUR_MS;

/** Outcome of an attempt by Standard Webhooks. A receiver may request a longer delay, not a shorter one. @param random from 0 to below 1 */
export function decideOutcome(
  { failingSince: before, attempts, called }: { failingSince: Date | null; attempts: number; called: Called },
  random: () => number,
): Outcome & { end: Omit<Parameters<typeof endWebhook>[2], 'at'> | null } {
  const { attempt, retryAfterSeconds, ended } = called;
  const { at, reason } = attempt;
  if (reason === null) return { state: 'DELIVERED', end: null };
  const failingSince = before ?? at;
  if (ended !== null) return { state: 'CANCELLED', end: { by: 'receiver', reason: ended, failingSince } };
  if (at.getTime() - failingSince.getTime() >= DISABLE_AFTER_FAILING_MS) {
    const end = { by: 'failures', reason: `Every attempt has failed for five days; the last one: ${reason}`, failingSince } as const;
    return { state: 'CANCELLED', end };
  }
  const step = RETRY_DELAYS_MS[attempts - 1];
  if (step === undefined) return { state: 'FAILED', end: null };
  const asked = Math.min((retryAfterSeconds ?? 0) * SECOND_MS, MAX_RETRY_AFTER_MS);
  return { state: 'PENDING', delayMs: Math.max(step, asked) + Math.floor(step * RETRY_JITTER * random()), end: null };
}

export async function publishWebhookNotices({ db, log, now }: { db: Db; log: EventLog; now(): Date }): Promise<number> {
  const webhooks = db.collection<WebhookDoc>('webhooks');
  const docs = await findWithOutbox(webhooks);
  const drafts = docs.flatMap(({ _id, url, wallet, outbox }) =>
    outbox.map((ending): AnyEventDraft => {
      const { change, at, reason, failingSince } = ending;
      const content = { webhookId: _id, url, reason, failingSince };
      const key = `webhook.disabled:${_id}:${change}`;
      return { type: 'webhook.disabled', key, at, horizonDays: null, wallet, content, ...pickTraceparent(ending) };
    }),
  );
  const appended = await log.append(
    drafts.sort((a, b) => a.at.getTime() - b.at.getTime() || a.key.localeCompare(b.key)),
    now(),
  );
  // Only after the events are in the log.
  await clearOutbox(webhooks, docs);
  return appended;
}
