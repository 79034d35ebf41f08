import { randomUUID } from 'node:crypto';
import { OracleError } from '../../errors.ts';
import { DAY_MS } from '../../forecast/day.ts';
import type { AnyEvent } from '../events/event.ts';
import { EVENTS_KEPT_DAYS, type EventLog } from '../events/log.ts';
import type { DailyUse } from './daily-use.ts';
import { messageOf } from './message.ts';
import { noSuchWebhook, ownWebhook } from './owned.ts';
import type { DeliveryQueue } from './queue.ts';
import type { ReplayClaims } from './replay-claims.ts';
import type { WebhookStore } from './store.ts';
import { wants } from './wants.ts';
import type { WebhookDoc } from './webhook.ts';

/** What is to be sent again: exactly one of the first three. */
export interface ReplayRequest {
  /** This event. */
  eventId?: number;
  /** Events with a higher id. */
  sinceId?: number;
  /** Events that happened then or later. */
  since?: Date;
  /** Only events that happened before. */
  until?: Date;
}

/** What was queued. */
export interface Replay {
  /** Names the replay in the deliveries; null when nothing was queued. */
  replayId: string | null;
  queued: number;
  /** Ids of the first and the last event; null when nothing was queued. */
  from: number | null;
  to: number | null;
}

export interface ReplayParts {
  store: WebhookStore;
  events: Pick<EventLog, 'after' | 'event' | 'firstId' | 'lastId'>;
  queue: DeliveryQueue;
  claims: ReplayClaims;
  daily: DailyUse;
  now(): Date;
}

/** How a replay is marked in the queue. */
export const REPLAY_CAUSE = 'replay:';

const STARTS = ['eventId', 'sinceId', 'since'] as const;
const PAGE = 200;

/**
 * Queues events of the log once more, in their order, behind what waits; they go out as they did, under the same `webhook-id`. Of a
 * webhook one replay waits at a time.
 * @throws OracleError NOT_FOUND; INPUT_INVALID naming what is asked for; CONFLICT for a disabled one, and while a replay waits;
 * RATE_LIMITED
 */
export async function replayTo(
  parts: ReplayParts,
  { wallet, id, request }: { wallet: string; id: string; request: ReplayRequest },
): Promise<Replay> {
  const webhook = await ownWebhook(parts.store, wallet, id);
  const events = await eventsOf(parts, webhook, request);
  if (webhook.status !== 'active') throw disabled();
  if (events.length === 0) return { replayId: null, queued: 0, from: null, to: null };
  const replayId = await queueAgain(parts, webhook, events);
  return { replayId, queued: events.length, from: events[0]!._id, to: events.at(-1)!._id };
}

async function queueAgain(parts: ReplayParts, webhook: WebhookDoc, events: AnyEvent[]): Promise<string> {
  const { store, queue, claims, now } = parts;
  const cause = `${REPLAY_CAUSE}${randomUUID()}`;
  const claim = await claims.take(webhook._id, now());
  try {
    if (await queue.waitsFor(webhook._id, REPLAY_CAUSE)) throw underWay();
    await appendCounted(parts, webhook, { events, cause });
  } finally {
    await claims.release(claim);
  }
  await dropOfDeleted(store, queue, webhook);
  return cause.slice(REPLAY_CAUSE.length);
}

/** What does not get into the queue does not count. */
async function appendCounted({ queue, daily, now }: ReplayParts, webhook: WebhookDoc, of: { events: AnyEvent[]; cause: string }) {
  let unused = of.events.length;
  const taken = await daily.take({ use: 'replay', wallet: webhook.wallet, count: unused }, now());
  const messages = of.events.map((event) => messageOf(event, of.cause));
  try {
    unused -= await queue.append(webhook, messages, now());
  } finally {
    await daily.giveBack(taken, unused);
  }
}

/** A deletion empties the queue once: what comes in after that is taken out here. */
async function dropOfDeleted(store: WebhookStore, queue: DeliveryQueue, { _id, wallet }: WebhookDoc): Promise<void> {
  if ((await store.get(wallet, _id)) !== null) return;
  await queue.forget(_id);
  throw noSuchWebhook();
}

/** What of the request the webhook is called for, in the order of the log. */
async function eventsOf({ events: log, now }: ReplayParts, webhook: WebhookDoc, request: ReplayRequest): Promise<AnyEvent[]> {
  checkRequest(request, now());
  const { eventId, sinceId, since, until } = request;
  if (eventId !== undefined) return [await oneEvent(log, webhook, eventId)];
  const first = (await log.firstId()) ?? 1;
  if (sinceId !== undefined) await checkSince(log, sinceId, first);
  const wanted: AnyEvent[] = [];
  for (let last = sinceId ?? first - 1; ; ) {
    const page = await log.after(last, PAGE);
    if (page.length === 0) return wanted;
    const asked = page.filter(({ at }) => (since === undefined || at >= since) && (until === undefined || at < until));
    wanted.push(...asked.filter((event) => wants(webhook, event)));
    last = page.at(-1)!._id;
  }
}

function checkRequest(request: ReplayRequest, now: Date): void {
  const named = STARTS.filter((name) => request[name] !== undefined);
  if (named.length !== 1) throw wrong(named[1] ?? 'since', `Exactly one of ${STARTS.join(', ')} must be told`);
  const { eventId, since, until } = request;
  if (until !== undefined && eventId !== undefined) throw wrong('until', 'A single event has no end');
  if (until !== undefined && since !== undefined && until <= since) throw wrong('until', 'The end must be later than the beginning');
  // Refused, since the answer would be silent of what is gone.
  if (since !== undefined && since.getTime() < now.getTime() - EVENTS_KEPT_DAYS * DAY_MS) {
    throw wrong('since', `Events are kept for ${EVENTS_KEPT_DAYS} days: the beginning lies further back`);
  }
}

async function oneEvent(log: ReplayParts['events'], webhook: WebhookDoc, eventId: number): Promise<AnyEvent> {
  const event = await log.event(eventId);
  if (event === null) throw (await log.lastId()) < eventId ? unknown('eventId') : gone('eventId', await log.firstId());
  // The same for somebody else's notice: what it is is not told.
  if (!wants(webhook, event)) throw wrong('eventId', 'The webhook is not called for this event');
  return event;
}

async function checkSince(log: ReplayParts['events'], sinceId: number, first: number): Promise<void> {
  if (sinceId > (await log.lastId())) throw unknown('sinceId');
  if (sinceId < first - 1) throw gone('sinceId', first);
}

function wrong(field: string, message: string): OracleError {
  return new OracleError('INPUT_INVALID', message, { field });
}

function unknown(field: string): OracleError {
  return wrong(field, 'There is no event of this id yet');
}

function gone(field: string, oldestId: number | null): OracleError {
  return new OracleError('INPUT_INVALID', `Events are kept for ${EVENTS_KEPT_DAYS} days: this one is gone`, {
    field,
    suggestedAction: 'Ask for later ones.',
    details: { oldestId },
  });
}

function disabled(): OracleError {
  return new OracleError('CONFLICT', 'The webhook is not active: nothing is sent to it', {
    suggestedAction: 'Enable it first: POST /api/svc/webhooks/{id}/enable.',
  });
}

function underWay(): OracleError {
  return new OracleError('CONFLICT', 'A replay to this webhook still waits in its queue', {
    suggestedAction: 'Wait until it has been delivered: GET /api/svc/webhooks/{id}/deliveries?state=PENDING shows what waits.',
  });
}
