import type { Collection, Db, Document, Filter } from 'mongodb';
import { DAY_MS } from '../../../forecast/day.ts';
import { type CollectionIndexes, insertInOrder } from '../../../platform/mongo.ts';
import { confirmIfUncertain, repeatIfUncertain } from '../../../platform/uncertain-write.ts';
import type { PushedName } from '../../event-names.ts';
import type { WebhookDoc } from '../registry/webhook.ts';
import type { DeliveryAttempt, DeliveryState, WebhookDeliveryDoc } from './delivery.ts';
import { LIVE_CAUSE, type WebhookMessage } from './webhook-message.ts';

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

export type DeliveryTransition = { state: 'PENDING'; nextAttemptAt: Date } | { state: Exclude<DeliveryState, 'PENDING'> };

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
      const docs = fresh.map((message, index) => toPendingDelivery(webhook, message, last + 1 + index, now));
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
    { _id: webhookId, wallet }: QueueOwner,
    done: Omit<WebhookDeliveryDoc, '_id' | 'webhookId' | 'wallet' | 'position'>,
  ): Promise<WebhookDeliveryDoc> {
    for (;;) {
      const position = (await this.#lastPosition(webhookId)) + 1;
      const doc = { ...done, _id: `${webhookId}:${position}`, webhookId, wallet, position };
      if ((await insertInOrder(this.#deliveries, [doc])).complete) return doc;
    }
  }

  async purge(now: Date): Promise<void> {
    const { live, asked } = DELIVERY_RETENTION_DAYS;
    await this.#purge({ cause: LIVE_CAUSE }, now, live);
    // `ping:` and `replay:` sort after `live`.
    await this.#purge({ cause: { $gt: LIVE_CAUSE } }, now, asked);
  }

  async #purge(of: Filter<WebhookDeliveryDoc>, now: Date, days: number): Promise<void> {
    const createdAt = { $lt: new Date(now.getTime() - days * DAY_MS) };
    await this.#deliveries.deleteMany({ ...of, createdAt, state: { $ne: 'PENDING' } }, { hint: BY_AGE });
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

function toPendingDelivery(owner: QueueOwner, message: WebhookMessage, position: number, now: Date): WebhookDeliveryDoc {
  const { _id: webhookId, wallet } = owner;
  return {
    _id: `${webhookId}:${position}`,
    webhookId,
    position,
    wallet,
    ...message,
    once: buildOnceKey(webhookId, message),
    state: 'PENDING',
    attempts: [],
    nextAttemptAt: null,
    createdAt: now,
    finishedAt: null,
  };
}

function buildOnceKey(webhookId: string, { eventId, cause }: Pick<WebhookDeliveryDoc, 'eventId' | 'cause'>): string {
  return `${webhookId}:${eventId}:${cause}`;
}
