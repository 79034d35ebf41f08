import type { Caller, Tier } from '../../auth/caller.ts';
import { isOracleError, orElse } from '../../errors.ts';
import { WakeSignal } from '../../platform/concurrency.ts';
import type { Log } from '../../platform/log.ts';
import { attemptAndKeepTrying } from '../../platform/retry.ts';
import { inSpan, parseTraceparent } from '../../platform/tracing.ts';
import { type EventViewOptions, viewEvent } from '../event-view.ts';
import type { EventLog } from '../log.ts';
import {
  type CallWebhookDeps,
  callWebhook,
  type DeliveryAttempt,
  type DeliveryQueue,
  decideOutcome,
  type FanOutDeps,
  fanOutEvents,
  SENDER_LEASE_MS,
  type SenderLease,
  type SenderLeaseStore,
  WEBHOOK_CALL_TIMEOUT_MS,
  type WebhookCallResult,
  type WebhookDeliveryDoc,
  type WebhookRequest,
} from './delivery-queue.ts';
import type { HostLimiter } from './limits.ts';
import { renderMessage, type WebhookDoc } from './store.ts';
import type { WebhookStore } from './webhook-store.ts';

export interface DeliveryTurn {
  subject: string;
  at: Date;
}

type EnqueueTurn = (turn: DeliveryTurn) => Promise<void>;

export interface WebhookDispatcherDeps extends DeliverDeps, FanOutDeps {
  events: DeliverDeps['events'] & FanOutDeps['events'];
  publish(): Promise<unknown>;
  pollMs?: number;
  overdueMs?: number;
}

const CONCURRENCY = 16;
const POLL_MS = 1_000;
/** A message due for longer is queued again: its worker may have died. */
const OVERDUE_MS = 5_000;
const MAX_DUE = 1_000;

export function createWebhookDispatcher(deps: WebhookDispatcherDeps) {
  const { log, now, turnMs = MAX_TURN_START_MS, timeoutMs = WEBHOOK_CALL_TIMEOUT_MS, marginMs = LEASE_MARGIN_MS } = deps;
  let queueTurn: EnqueueTurn = async () => undefined;
  return {
    concurrency: CONCURRENCY,
    /** Longest duration of a turn: its last call, and database access before and after it. */
    lockMs: turnMs + timeoutMs + 2 * marginMs,
    async run({ subject }: DeliveryTurn): Promise<void> {
      try {
        await deliverToWebhook(deps, subject);
      } catch (error) {
        log.error({ err: error, webhook: subject }, 'a webhook could not be sent to: trying again');
      }
    },
    /** Checks again after a turn has left the job queue: messages that arrived at its end could not be queued. */
    async ended({ subject }: DeliveryTurn): Promise<void> {
      if (deps.stopping.aborted) return;
      const head = await deps.queue.findHead(subject);
      // A head due later is found by polling, and takes no slot until then.
      if (head !== null && isDue(head, now())) await queueTurn(toDeliveryTurn(head, now()));
    },
    /** Queues events and turns until the signal aborts; then `ended` resolves. */
    start(enqueue: EnqueueTurn, signal: AbortSignal) {
      queueTurn = enqueue;
      const wakeSignal = new WakeSignal(signal);
      return { wake: () => wakeSignal.wake(), ended: runDispatchLoop(deps, { enqueue, wakeSignal, signal }) };
    },
  };
}

async function runDispatchLoop(
  deps: WebhookDispatcherDeps,
  { enqueue, wakeSignal, signal }: { enqueue: EnqueueTurn; wakeSignal: WakeSignal; signal: AbortSignal },
): Promise<void> {
  const { queue, now, overdueMs = OVERDUE_MS, pollMs = POLL_MS } = deps;
  const isolate = createFailureIsolator(deps.log);
  let queued: QueuedTurns = new Map();
  for (let round = 0; !signal.aborted; round++) {
    await isolate('publish', () => deps.publish());
    await isolate('fan out', () => fanOutEvents(deps));
    // In the first round too: a killed worker may have left messages.
    if (round % Math.ceil(overdueMs / pollMs) === 0) {
      await isolate('wake', async () => {
        // A head whose sender died before scheduling it has no time.
        for (const webhookId of await queue.listWaiting()) await queue.wake(webhookId, now());
      });
    }
    await isolate('queue turns', async () => {
      queued = await queueDueTurns(deps, enqueue, queued);
    });
    await wakeSignal.sleep(pollMs);
  }
}

function createFailureIsolator(log: Log): (what: string, work: () => Promise<unknown>) => Promise<void> {
  const failing = new Set<string>();
  return async (what, work) => {
    try {
      await work();
      failing.delete(what);
    } catch (error) {
      if (!failing.has(what)) log.error({ err: error, failed: what }, 'webhooks could not be looked after: trying again');
      failing.add(what);
    }
  };
}

/** The queued head of each webhook, and when it was queued. */
type QueuedTurns = Map<string, { head: string; atMs: number }>;

/** @param before heads that need not be queued again until they are overdue */
async function queueDueTurns(deps: WebhookDispatcherDeps, enqueue: EnqueueTurn, before: QueuedTurns): Promise<QueuedTurns> {
  const { queue, now, overdueMs = OVERDUE_MS } = deps;
  const at = now();
  const queued: QueuedTurns = new Map();
  for (const doc of await queue.listDue(at, MAX_DUE)) {
    const head = `${doc.position}:${doc.nextAttemptAt!.getTime()}`;
    const last = before.get(doc.webhookId);
    const isKnown = last?.head === head && at.getTime() - last.atMs < overdueMs;
    if (!isKnown) await enqueue(toDeliveryTurn(doc, at));
    queued.set(doc.webhookId, isKnown ? last : { head, atMs: at.getTime() });
  }
  return queued;
}

function toDeliveryTurn({ webhookId, nextAttemptAt }: WebhookDeliveryDoc, now: Date): DeliveryTurn {
  return { subject: webhookId, at: nextAttemptAt ?? now };
}

export const TIER_RECHECK_MS = 5 * 60_000;

export interface DeliverDeps extends CallWebhookDeps {
  store: WebhookStore;
  queue: DeliveryQueue;
  /** Current tier of a wallet, in lower case. @throws OracleError CHAIN_UNREACHABLE */
  tierOf(wallet: string): Promise<Tier>;
  leases: SenderLeaseStore;
  events: Pick<EventLog, 'event'>;
  hosts: HostLimiter;
  view: EventViewOptions;
  log: Log;
  /** From 0 to below 1. */
  random(): number;
  marginMs?: number;
  turnMs?: number;
  /** Aborted when the stop begins: no new call starts. */
  stopping: AbortSignal;
  /** Aborted when calls in flight must end. */
  abortCalls: AbortSignal;
  /** Called with each attempt that reached a result. */
  observeAttempt?(delivery: WebhookDeliveryDoc, attempt: DeliveryAttempt): void;
}

/** A turn starts no call after this time, so that no webhook delays others. */
const MAX_TURN_START_MS = 10_000;
/** Lease time reserved beyond the time limit of a call. */
const LEASE_MARGIN_MS = 5_000;
/** Delay when no attempt was made; not counted as an attempt. */
const POSTPONE_MS = { busy: 1_000, spent: 5_000, unreadable: 60_000, sealed: 60_000 } as const;

/** One turn; returns the new head of the queue, or null. Sends nothing if another worker holds the lease or the webhook is disabled. */
export async function deliverToWebhook(deps: DeliverDeps, webhookId: string): Promise<WebhookDeliveryDoc | null> {
  const endMs = performance.now() + (deps.turnMs ?? MAX_TURN_START_MS);
  for (;;) {
    const lease = await deps.leases.acquire(webhookId);
    if (lease === null && (await resumeIfSuspended(deps, webhookId))) continue;
    if (lease === null) return null;
    try {
      await sendDue(deps, lease, endMs);
    } finally {
      await attemptAndKeepTrying(() => deps.leases.release(lease), SENDER_LEASE_MS);
    }
    // After the release: a worker that queued a message before it may have found the lease taken.
    const head = await deps.queue.wake(webhookId, deps.now());
    if (head === null || !isDue(head, deps.now()) || isTurnOver(deps, endMs)) return head;
  }
}

/** Whether a suspended webhook is active again. Cancels the queue of a disabled one, deletes that of a deleted one. */
async function resumeIfSuspended(deps: DeliverDeps, webhookId: string): Promise<boolean> {
  const at = deps.now();
  const status = await deps.store.getStatus(webhookId);
  if (status === 'suspended') return resumeWithTier(deps, webhookId);
  if (status === null) await deps.queue.deleteAll(webhookId);
  if (status === 'disabled') await deps.queue.cancel(webhookId, at);
  return false;
}

async function sendDue(deps: DeliverDeps, initialLease: SenderLease, endMs: number): Promise<void> {
  let lease: SenderLease | null = initialLease;
  while (lease !== null && !isTurnOver(deps, endMs)) {
    const head = await deps.queue.findHead(initialLease.webhook._id);
    if (head === null || !isDue(head, deps.now()) || !(await sendHead(deps, lease, head))) return;
    lease = await deps.leases.renew(lease);
  }
}

/** False if nothing more can be sent in this turn. */
async function sendHead(deps: DeliverDeps, lease: SenderLease, head: WebhookDeliveryDoc): Promise<boolean> {
  const { webhook } = lease;
  const body = await renderEventBody(deps, webhook, head);
  if (body === 'later') return false;
  if (body === 'gone') {
    const attempt = { at: deps.now(), status: null, ms: 0, reason: 'The event is no longer kept' };
    return deps.queue.recordAttempt(head, attempt, { state: 'FAILED' }, attempt.at);
  }
  // A message in flight when the lease expires could be overtaken.
  if (lease.expiresAtMs - performance.now() < (deps.timeoutMs ?? WEBHOOK_CALL_TIMEOUT_MS) + (deps.marginMs ?? LEASE_MARGIN_MS)) return true;
  const call = { messageId: head.messageId, body, signal: deps.abortCalls };
  // In the trace of what has caused the message; without one, in that of the job.
  const span = { name: `webhook ${head.type}`, kind: 'client', parent: parseTraceparent(head.traceparent) ?? undefined } as const;
  const called = await deps.hosts.run(webhook, () => inSpan(span, () => tryCallWebhook(deps, webhook, call)));
  if (typeof called === 'string') return postpone(deps, head, POSTPONE_MS[called]);
  // Aborted by this process: delivery is unknown, and not a failure of the receiver.
  if (deps.abortCalls.aborted && called.attempt.status === null) return false;
  return settleAttempt(deps, webhook, head, called);
}

/** Full name lookups and an undecryptable secret or URL are not failures of the receiver. */
async function tryCallWebhook(deps: DeliverDeps, webhook: WebhookDoc, call: WebhookRequest) {
  try {
    return await callWebhook(deps, webhook, call);
  } catch (error) {
    if (isOracleError(error, 'RATE_LIMITED')) return 'busy' as const;
    if (!isOracleError(error, 'CONFIG_INVALID')) throw error;
    deps.log.error({ err: error, webhook: webhook._id }, 'the secret of a webhook does not open: nothing is sent to it');
    return 'sealed' as const;
  }
}

/** `later` if the chain is unreachable or the wallet has lost its tier, which suspends the webhook; `gone` if the event has expired. */
async function renderEventBody(deps: DeliverDeps, doc: WebhookDoc, head: WebhookDeliveryDoc): Promise<string | 'later' | 'gone'> {
  const { _id, wallet } = doc;
  const event = head.eventId === null ? null : await deps.events.event(head.eventId);
  if (event === null) return 'gone';
  try {
    const tier = await deps.tierOf(wallet);
    if (tier === 'public') {
      await deps.store.suspend(_id, deps.now());
      deps.log.info({ webhook: _id }, 'a webhook is suspended: its wallet has lost the Basic tier');
      await postpone(deps, head, TIER_RECHECK_MS);
      return 'later';
    }
    const caller: Caller = { tier, wallet: wallet as Caller['wallet'] & string };
    return renderMessage(doc, viewEvent(event, caller, deps.view), deps.view.publicUrl);
  } catch (error) {
    if (!isOracleError(error, 'CHAIN_UNREACHABLE')) throw error;
    await postpone(deps, head, POSTPONE_MS.unreadable);
    return 'later';
  }
}

/** Disables before it finishes the delivery: after a crash in between, the notice still explains the end. */
async function settleAttempt(
  { store, queue, log, random, observeAttempt }: DeliverDeps,
  webhook: WebhookDoc,
  head: WebhookDeliveryDoc,
  called: WebhookCallResult,
): Promise<boolean> {
  const { attempt } = called;
  observeAttempt?.(head, attempt);
  const { urlSetAt } = webhook;
  const before = urlSetAt === undefined ? head.attempts : head.attempts.filter(({ at }) => at >= urlSetAt);
  const { verdict, end } = decideOutcome({ webhook, attempts: before.length + 1, called }, random);
  if (attempt.reason === null) {
    await store.recordSuccess(webhook);
    return queue.recordAttempt(head, attempt, verdict, attempt.at);
  }
  const counts = end === null ? await store.recordFailure(webhook, attempt.at) : await store.end(webhook, { ...end, at: attempt.at });
  // A response of the previous URL does not count for the new one, which is called now.
  const transition = counts ? verdict : ({ state: 'PENDING', nextAttemptAt: attempt.at } as const);
  const isRecorded = await queue.recordAttempt(head, attempt, transition, attempt.at);
  if (end === null || !counts) return isRecorded;
  log.warn({ webhook: webhook._id, by: end.by, reason: end.reason }, 'a webhook was disabled');
  return false;
}

async function postpone({ queue, now }: DeliverDeps, head: WebhookDeliveryDoc, ms: number): Promise<false> {
  await queue.postpone(head, new Date(now().getTime() + ms));
  return false;
}

const isDue = ({ nextAttemptAt }: WebhookDeliveryDoc, now: Date) => nextAttemptAt === null || nextAttemptAt <= now;
const isTurnOver = ({ stopping }: DeliverDeps, endMs: number) => stopping.aborted || performance.now() >= endMs;

/** False if it stays suspended. The head of the queue carries the time of the next check: one balance read per interval, none per event. */
async function resumeWithTier(deps: DeliverDeps, webhookId: string): Promise<boolean> {
  const head = await deps.queue.findHead(webhookId);
  if (head === null || !isDue(head, deps.now())) return false;
  const tier = await deps.tierOf(head.wallet).catch(orElse('CHAIN_UNREACHABLE', 'public' as const));
  return tier === 'public' ? postpone(deps, head, TIER_RECHECK_MS) : deps.store.resumeSuspended(webhookId);
}
