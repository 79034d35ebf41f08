import type { Collection, Db } from 'mongodb';
import type { AnyEvent } from '../../log/event.ts';
import type { EventLog } from '../../log/event-log.ts';
import { matchesWebhook, type WebhookDoc } from '../registry/webhook.ts';
import type { DeliveryQueue } from './delivery-queue.ts';
import { LIVE_CAUSE, toWebhookMessage } from './webhook-message.ts';

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
  for (;;) {
    const from = await findLeastProgress(webhooks);
    const page = from === null ? [] : await deps.events.after(from, PAGE_SIZE);
    if (page.length === 0) return;
    await queueEventPage(deps, webhooks, page);
  }
}

/** Progress of the active webhook furthest behind; null without any. */
async function findLeastProgress(webhooks: Collection<WebhookDoc>): Promise<number | null> {
  const options = { sort: { queuedThrough: 1 }, projection: { queuedThrough: 1 }, hint: BY_PROGRESS } as const;
  return (await webhooks.findOne({ status: 'active' }, options))?.queuedThrough ?? null;
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
