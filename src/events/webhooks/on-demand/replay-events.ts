import { randomUUID } from 'node:crypto';
import { DAY_MS } from '../../../forecast/day.ts';
import { OracleError } from '../../../platform/errors.ts';
import { getTraceHeaders } from '../../../platform/tracing/active-trace.ts';
import type { AnyEvent } from '../../log/event.ts';
import { EVENT_RETENTION_DAYS, type EventLog } from '../../log/event-log.ts';
import type { DeliveryQueue } from '../delivery/delivery-queue.ts';
import { toWebhookMessage } from '../delivery/webhook-message.ts';
import type { DailyQuotaStore } from '../limits/daily-quota-store.ts';
import { matchesWebhook, type WebhookDoc } from '../registry/webhook.ts';
import type { WebhookStore } from '../registry/webhook-store.ts';
import { requireOwnWebhook, webhookNotFound } from '../registry/webhook-view.ts';
import type { ReplayClaimStore } from './replay-claim-store.ts';

export interface ReplayRequest {
  eventId?: number;
  /** Events with a higher id. */
  sinceId?: number;
  /** Events at or after this time. */
  since?: Date;
  /** Excludes events at or after this time. */
  until?: Date;
}

export interface QueuedReplay {
  /** Id in the deliveries; null if nothing was queued. */
  replayId: string | null;
  queued: number;
  /** Id of the first event; null if nothing was queued. */
  from: number | null;
  to: number | null;
}

export interface ReplayEventsDeps {
  store: WebhookStore;
  events: Pick<EventLog, 'after' | 'event' | 'firstId' | 'lastId'>;
  queue: DeliveryQueue;
  claims: ReplayClaimStore;
  quotas: DailyQuotaStore;
  now(): Date;
}

export const REPLAY_CAUSE_PREFIX = 'replay:';

const START_FIELDS = ['eventId', 'sinceId', 'since'] as const;
const PAGE_SIZE = 200;

/** One replay per webhook at a time. @throws OracleError NOT_FOUND; INPUT_INVALID; CONFLICT for an inactive webhook or a second replay; RATE_LIMITED */
export async function replayEvents(
  deps: ReplayEventsDeps,
  { wallet, id, request }: { wallet: string; id: string; request: ReplayRequest },
): Promise<QueuedReplay> {
  const webhook = await requireOwnWebhook(deps.store, wallet, id);
  const events = await selectEvents(deps, webhook, request);
  if (webhook.status !== 'active') throw webhookInactive();
  if (events.length === 0) return { replayId: null, queued: 0, from: null, to: null };
  const replayId = await queueReplay(deps, webhook, events);
  return { replayId, queued: events.length, from: events[0]!._id, to: events.at(-1)!._id };
}

async function queueReplay(deps: ReplayEventsDeps, webhook: WebhookDoc, events: AnyEvent[]): Promise<string> {
  const { store, queue, claims } = deps;
  const cause = `${REPLAY_CAUSE_PREFIX}${randomUUID()}`;
  const claim = await claims.acquire(webhook._id);
  try {
    if (await queue.hasPending(webhook._id, REPLAY_CAUSE_PREFIX)) throw replayPending();
    await appendWithinQuota(deps, webhook, { events, cause });
  } finally {
    await claims.release(claim);
  }
  await dropIfDeleted(store, queue, webhook);
  return cause.slice(REPLAY_CAUSE_PREFIX.length);
}

/** Refunds the quota of events that were not queued. */
async function appendWithinQuota({ queue, quotas, now }: ReplayEventsDeps, webhook: WebhookDoc, of: { events: AnyEvent[]; cause: string }) {
  let unused = of.events.length;
  const grant = await quotas.consume({ use: 'replay', wallet: webhook.wallet, count: unused }, now());
  const messages = of.events.map((event) => ({ ...toWebhookMessage(event, of.cause), ...getTraceHeaders() }));
  try {
    unused -= await queue.append(webhook, messages, now());
  } finally {
    await quotas.refund(grant, unused);
  }
}

/** A deletion empties the queue once; messages appended after it are deleted here. */
async function dropIfDeleted(store: WebhookStore, queue: DeliveryQueue, { _id, wallet }: WebhookDoc): Promise<void> {
  if ((await store.get(wallet, _id)) !== null) return;
  await queue.deleteAll(_id);
  throw webhookNotFound();
}

async function selectEvents({ events: log, now }: ReplayEventsDeps, webhook: WebhookDoc, request: ReplayRequest): Promise<AnyEvent[]> {
  checkReplayRequest(request, now());
  const { eventId, sinceId, since, until } = request;
  if (eventId !== undefined) return [await requireEvent(log, webhook, eventId)];
  const first = (await log.firstId()) ?? 1;
  if (sinceId !== undefined) await checkSince(log, sinceId, first);
  const wanted: AnyEvent[] = [];
  for (let last = sinceId ?? first - 1; ; ) {
    const page = await log.after(last, PAGE_SIZE);
    if (page.length === 0) return wanted;
    const asked = page.filter(({ at }) => (since === undefined || at >= since) && (until === undefined || at < until));
    wanted.push(...asked.filter((event) => matchesWebhook(webhook, event)));
    last = page.at(-1)!._id;
  }
}

function checkReplayRequest(request: ReplayRequest, now: Date): void {
  const named = START_FIELDS.filter((name) => request[name] !== undefined);
  if (named.length !== 1) throw invalidReplayField(named[1] ?? 'since', `Exactly one of ${START_FIELDS.join(', ')} is required`);
  const { eventId, since, until } = request;
  if (until !== undefined && eventId !== undefined) throw invalidReplayField('until', 'A single event has no end');
  if (until !== undefined && since !== undefined && until <= since)
    throw invalidReplayField('until', 'The end must be later than the beginning');
  // Rejected, since the response would hide that events have expired.
  if (since !== undefined && since.getTime() < now.getTime() - EVENT_RETENTION_DAYS * DAY_MS) {
    throw invalidReplayField('since', `Events are kept for ${EVENT_RETENTION_DAYS} days: the beginning lies further back`);
  }
}

async function requireEvent(log: ReplayEventsDeps['events'], webhook: WebhookDoc, eventId: number): Promise<AnyEvent> {
  const event = await log.event(eventId);
  if (event === null) throw (await log.lastId()) < eventId ? unknownEvent('eventId') : expiredEvent('eventId', await log.firstId());
  // The same error for a notice to another wallet, which must not be disclosed.
  if (!matchesWebhook(webhook, event)) throw invalidReplayField('eventId', 'The webhook is not called for this event');
  return event;
}

async function checkSince(log: ReplayEventsDeps['events'], sinceId: number, first: number): Promise<void> {
  if (sinceId > (await log.lastId())) throw unknownEvent('sinceId');
  if (sinceId < first - 1) throw expiredEvent('sinceId', first);
}

function invalidReplayField(field: string, message: string): OracleError {
  return new OracleError('INPUT_INVALID', message, { field });
}

function unknownEvent(field: string): OracleError {
  return invalidReplayField(field, 'There is no event of this id yet');
}

function expiredEvent(field: string, oldestId: number | null): OracleError {
  return new OracleError('INPUT_INVALID', `Events are kept for ${EVENT_RETENTION_DAYS} days: this one is gone`, {
    field,
    suggestedAction: 'Request later events.',
    details: { oldestId },
  });
}

function webhookInactive(): OracleError {
  return new OracleError('CONFLICT', 'The webhook is not active: nothing is sent to it', {
    suggestedAction: 'Enable it first: POST /api/svc/webhooks/{id}/enable.',
  });
}

function replayPending(): OracleError {
  return new OracleError('CONFLICT', 'A replay to this webhook still waits in its queue', {
    suggestedAction: 'Wait until it has been delivered: GET /api/svc/webhooks/{id}/deliveries?state=PENDING shows what waits.',
  });
}
