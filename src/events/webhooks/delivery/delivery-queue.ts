import type { Collection, Db, Document, Filter } from 'mongodb';
import { type CollectionIndexes, insertInOrder } from '../../../platform/mongo.ts';
import type { WebhookDoc } from '../registry/webhook.ts';
import type { DeliveryAttempt, DeliveryState, WebhookDeliveryDoc } from './delivery.ts';
import { LIVE_CAUSE, type WebhookMessage } from './webhook-message.ts';

/** For so long the log of deliveries is kept; what somebody has asked for, replays and tests, less long: it can be asked for again. */
export const DELIVERY_RETENTION_DAYS = { live: 90, asked: 7 } as const;

const DAY_MS = 86_400_000;

const BY_POSITION = { webhookId: 1, position: 1 } as const;
/** The state first: then whose messages wait is read off the index, one key a webhook. */
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

/** Whose queue it is. */
type QueueOwner = Pick<WebhookDoc, '_id' | 'wallet'>;

/** What becomes of a delivery by an attempt. */
export type DeliveryTransition = { state: 'PENDING'; nextAttemptAt: Date } | { state: Exclude<DeliveryState, 'PENDING'> };

/** Which rows of the log are asked for. */
export interface DeliveryQuery {
  limit: number;
  /** Only what stands before this position. */
  before?: number | undefined;
  state?: DeliveryState | undefined;
}

/** The queues of all webhooks, and what came of what stood in them. */
export class DeliveryQueue {
  readonly #deliveries: Collection<WebhookDeliveryDoc>;

  constructor(db: Db) {
    this.#deliveries = db.collection('webhook_deliveries');
  }

  /**
   * Appends what was not queued for the same cause before, in the order given, and returns how many that were. Several processes may
   * append the same and other messages at once: a position is only written once the one before it is there, and an insert of many
   * stops at the first that is refused.
   */
  async append(webhook: QueueOwner, messages: readonly WebhookMessage[], now: Date): Promise<number> {
    let appended = 0;
    // Every round that is lost was won by somebody else, whose messages are queued then.
    for (;;) {
      const fresh = await this.#filterNew(webhook, messages);
      if (fresh.length === 0) break;
      const last = await this.#lastPosition(webhook._id);
      const docs = fresh.map((message, index) => toPendingDelivery(webhook, message, last + 1 + index, now));
      const { inserted, complete } = await insertInOrder(this.#deliveries, docs);
      appended += inserted;
      if (complete) break;
    }
    // Also where nothing was new: whoever queued it may have died before this.
    if (messages.length > 0) await this.wake(webhook._id, now);
    return appended;
  }

  /** What is sent next to a webhook, be it due or not; null when nothing waits. */
  findHead(webhookId: string): Promise<WebhookDeliveryDoc | null> {
    return this.#deliveries.findOne({ webhookId, state: 'PENDING' }, { sort: { position: 1 }, hint: BY_STATE });
  }

  /** Makes the head of a queue due, unless it has its time already, and returns it. */
  async wake(webhookId: string, now: Date): Promise<WebhookDeliveryDoc | null> {
    const head = await this.findHead(webhookId);
    if (head === null || head.nextAttemptAt !== null) return head;
    const { _id } = head;
    await this.#deliveries.updateOne({ _id, state: 'PENDING', nextAttemptAt: null }, { $set: { nextAttemptAt: now } }, BY_ID);
    return { ...head, nextAttemptAt: now };
  }

  /** Heads whose time has come, the longest waiting first. */
  listDue(now: Date, limit: number): Promise<WebhookDeliveryDoc[]> {
    return this.#deliveries
      .find({ state: 'PENDING', nextAttemptAt: { $lte: now } }, { hint: BY_TIME })
      .sort({ nextAttemptAt: 1 })
      .limit(limit)
      .toArray();
  }

  /** Webhooks for which something waits, be it due or not. */
  async listWaiting(): Promise<string[]> {
    const rows = await this.#deliveries.aggregate<{ _id: string }>(WAITING_WEBHOOKS, { hint: BY_STATE }).toArray();
    return rows.map(({ _id }) => _id);
  }

  /** Writes down an attempt and what follows from it; false when somebody else has written one meanwhile, whose word counts then. */
  async recordAttempt(
    { _id, attempts }: WebhookDeliveryDoc,
    attempt: DeliveryAttempt,
    transition: DeliveryTransition,
    now: Date,
  ): Promise<boolean> {
    const over = { nextAttemptAt: null, finishedAt: now };
    const { modifiedCount } = await this.#deliveries.updateOne(
      { _id, state: 'PENDING', attempts: { $size: attempts.length } },
      { $push: { attempts: attempt }, $set: transition.state === 'PENDING' ? transition : { ...transition, ...over } },
      BY_ID,
    );
    return modifiedCount === 1;
  }

  /** Puts the next attempt off, counting none. */
  async postpone({ _id }: WebhookDeliveryDoc, until: Date): Promise<void> {
    await this.#deliveries.updateOne({ _id, state: 'PENDING' }, { $set: { nextAttemptAt: until } }, BY_ID);
  }

  /** Makes the head of a queue due now, whatever time it has: there is reason to believe that it will be taken. */
  async makeDue(webhookId: string, now: Date): Promise<void> {
    const head = await this.findHead(webhookId);
    if (head === null || head.nextAttemptAt === null || head.nextAttemptAt <= now) return;
    await this.#deliveries.updateOne({ _id: head._id, state: 'PENDING' }, { $set: { nextAttemptAt: now } }, BY_ID);
  }

  /** Whether something waits whose cause begins with a word. */
  async hasPending(webhookId: string, causePrefix: string): Promise<boolean> {
    const query: Filter<WebhookDeliveryDoc> = { webhookId, state: 'PENDING', cause: { $gte: causePrefix, $lt: `${causePrefix}\uffff` } };
    return (await this.#deliveries.findOne(query, { projection: { _id: 1 }, hint: BY_STATE })) !== null;
  }

  /** Ends what waits for a webhook that was found disabled at a time: what was queued later may be for one that is enabled again. */
  async cancel(webhookId: string, at: Date): Promise<void> {
    const waiting = { webhookId, state: 'PENDING' as const, createdAt: { $lte: at } };
    const ended = { state: 'CANCELLED' as const, nextAttemptAt: null, finishedAt: at };
    await this.#deliveries.updateMany(waiting, { $set: ended }, { hint: BY_STATE });
  }

  /** Deletes all there is of a webhook: for one that was deleted itself. */
  async deleteAll(webhookId: string): Promise<void> {
    await this.#deliveries.deleteMany({ webhookId }, { hint: BY_POSITION });
  }

  /** The log of a webhook, newest first. */
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

  /** Writes down what never waited: a test. */
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

  /** Deletes what is over and too old. */
  async purge(now: Date): Promise<void> {
    const { live, asked } = DELIVERY_RETENTION_DAYS;
    await this.#purge({ cause: LIVE_CAUSE }, now, live);
    // `ping:` and `replay:` stand behind `live`: causes are compared by their bytes.
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

function toPendingDelivery(
  { _id: webhookId, wallet }: QueueOwner,
  message: WebhookMessage,
  position: number,
  now: Date,
): WebhookDeliveryDoc {
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
