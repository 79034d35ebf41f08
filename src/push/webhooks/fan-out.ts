import type { Collection, Db } from 'mongodb';
import type { AnyEvent } from '../events/event.ts';
import type { EventLog } from '../events/log.ts';
import { LIVE, messageOf } from './message.ts';
import type { DeliveryQueue } from './queue.ts';
import { wants } from './wants.ts';
import type { WebhookDoc } from './webhook.ts';

export interface FanOutParts {
  db: Db;
  events: Pick<EventLog, 'after'>;
  queue: DeliveryQueue;
  now(): Date;
}

const PAGE = 200;
/** Webhooks that are written for at once. */
const AT_ONCE = 16;
const BY_PROGRESS = { status: 1, queuedThrough: 1 } as const;

export const FAN_OUT_INDEX = { key: BY_PROGRESS } as const;

/**
 * Puts events into the queues of the active webhooks that are called for them, in the order of the log, each once. Any number of
 * processes may do so at once, and be killed at it: who comes next queues what is missing, and finds the rest there.
 */
export async function fanOut(parts: FanOutParts): Promise<void> {
  const webhooks = parts.db.collection<WebhookDoc>('webhooks');
  for (;;) {
    const from = await leastProgress(webhooks);
    const page = from === null ? [] : await parts.events.after(from, PAGE);
    if (page.length === 0) return;
    await queuePage(parts, webhooks, page);
  }
}

/** How far the active webhook has got that is furthest behind; null without any. */
async function leastProgress(webhooks: Collection<WebhookDoc>): Promise<number | null> {
  const options = { sort: { queuedThrough: 1 }, projection: { queuedThrough: 1 }, hint: BY_PROGRESS } as const;
  return (await webhooks.findOne({ status: 'active' }, options))?.queuedThrough ?? null;
}

async function queuePage({ queue, now }: FanOutParts, webhooks: Collection<WebhookDoc>, page: AnyEvent[]): Promise<void> {
  const through = page.at(-1)!._id;
  // Read after the events: whoever has changed his webhook before one of them happened gets what he has asked for.
  const here = await webhooks.find({ status: 'active', queuedThrough: { $lt: through } }, { hint: BY_PROGRESS }).toArray();
  const queueFor = async (webhook: WebhookDoc) => {
    const events = page.filter((event) => event._id > webhook.queuedThrough && wants(webhook, event));
    const messages = events.map((event) => messageOf(event, LIVE));
    if (messages.length > 0) await queue.append(webhook, messages, now());
  };
  for (let first = 0; first < here.length; first += AT_ONCE) await Promise.all(here.slice(first, first + AT_ONCE).map(queueFor));
  // Not before they are queued.
  const ids = here.map(({ _id }) => _id);
  await webhooks.updateMany({ _id: { $in: ids } }, { $max: { queuedThrough: through } }, { hint: { _id: 1 } });
}
