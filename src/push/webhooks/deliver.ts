import { isOracleError } from '../../errors.ts';
import type { Log } from '../../log.ts';
import type { Caller, Tier } from '../../record/caller.ts';
import type { EventLog } from '../events/log.ts';
import { type EventViewOptions, viewEvent } from '../events/view.ts';
import type { HostGate } from '../host-gate.ts';
import { CALL_TIMEOUT_MS, type Called, type CallOf, type CallParts, callWebhook } from './call.ts';
import type { DeliveryDoc } from './delivery.ts';
import type { Lease, SenderLeases } from './lease.ts';
import { judge } from './outcome.ts';
import type { DeliveryQueue } from './queue.ts';
import type { WebhookStanding } from './standing.ts';
import { RECHECK_MS, resumeWithTier } from './suspension.ts';
import type { WebhookDoc } from './webhook.ts';

export interface DeliverParts extends CallParts {
  leases: SenderLeases;
  standing: WebhookStanding;
  queue: DeliveryQueue;
  events: Pick<EventLog, 'event'>;
  hosts: HostGate;
  view: EventViewOptions;
  /** What a wallet, in lower case, is worth now. @throws OracleError CHAIN_UNREACHABLE */
  tierOf(wallet: string): Promise<Tier>;
  log: Log;
  /** From 0 to below 1. */
  random(): number;
  /** What a call may take longer than its limit before its lease is over, other than usual. */
  marginMs?: number;
  /** When a turn begins no further call, other than usual. */
  turnMs?: number;
  /** Aborted when the stop begins: nothing new is sent from then on. */
  stopping: AbortSignal;
  /** Aborted when what is under way must end. */
  giveUp: AbortSignal;
}

/** A turn begins no further call after this time, so that no webhook keeps others waiting. */
const TURN_MS = 10_000;
/** What a call may take longer than its limit before its lease is over. */
const MARGIN_MS = 5_000;
/** When it is tried again what was not tried at all, and does not count as an attempt. */
const PUT_OFF_MS = { busy: 1_000, spent: 5_000, unreadable: 60_000, sealed: 60_000 } as const;

/**
 * Sends a webhook what is due in its queue, one message after the other, for a turn. Returns the head of the queue as it is then, null
 * when nothing waits. Where somebody else is at it, or the webhook has ended, nothing is sent.
 * @throws by the database
 */
export async function deliver(parts: DeliverParts, webhookId: string): Promise<DeliveryDoc | null> {
  const endMs = performance.now() + (parts.turnMs ?? TURN_MS);
  for (;;) {
    const lease = await parts.leases.take(webhookId);
    if (lease === null && (await resumed(parts, webhookId))) continue;
    if (lease === null) return null;
    try {
      await sendDue(parts, lease, endMs);
    } finally {
      await parts.leases.release(lease);
    }
    // After the release: whoever queued something before it may have found the lease taken, and gone away.
    const head = await parts.queue.wake(webhookId, parts.now());
    if (head === null || !isDue(head, parts.now()) || isOver(parts, endMs)) return head;
  }
}

/**
 * Whether a webhook was suspended and is active again. What waits for one that has ended is ended too; the work of another lease
 * holder is left alone.
 */
async function resumed(parts: DeliverParts, webhookId: string): Promise<boolean> {
  const at = parts.now();
  const status = await parts.standing.statusOf(webhookId);
  if (status === 'suspended') return resumeWithTier(parts, webhookId);
  if (status === null) await parts.queue.forget(webhookId);
  if (status === 'disabled') await parts.queue.cancel(webhookId, at);
  return false;
}

async function sendDue(parts: DeliverParts, taken: Lease, endMs: number): Promise<void> {
  let lease: Lease | null = taken;
  while (lease !== null && !isOver(parts, endMs)) {
    const head = await parts.queue.head(taken.webhook._id);
    if (head === null || !isDue(head, parts.now()) || !(await sendHead(parts, lease, head))) return;
    lease = await parts.leases.renew(lease);
  }
}

/** False when there is nothing more to be sent in this turn. */
async function sendHead(parts: DeliverParts, lease: Lease, head: DeliveryDoc): Promise<boolean> {
  const { webhook } = lease;
  const body = await bodyFor(parts, webhook, head);
  if (body === 'later') return false;
  if (body === 'gone') return writeOff(parts, head);
  // A message that is being sent when the lease ends could be overtaken.
  if (lease.untilMs - performance.now() < (parts.timeoutMs ?? CALL_TIMEOUT_MS) + (parts.marginMs ?? MARGIN_MS)) return true;
  const call = { messageId: head.messageId, body, signal: parts.giveUp };
  const called = await parts.hosts.run(webhook, () => callOrNot(parts, webhook, call));
  if (typeof called === 'string') return putOff(parts, head, PUT_OFF_MS[called]);
  // Broken off by us: whether it arrived is not known, and it is nobody's failure.
  if (parts.giveUp.aborted && called.attempt.status === null) return false;
  return settle(parts, webhook, head, called);
}

/** Where no more host names can be looked up, or the secret does not open, that is nobody's failure either. */
async function callOrNot(parts: DeliverParts, webhook: WebhookDoc, call: CallOf): Promise<Called | 'busy' | 'sealed'> {
  try {
    return await callWebhook(parts, webhook, call);
  } catch (error) {
    if (isOracleError(error, 'RATE_LIMITED')) return 'busy';
    if (!isOracleError(error, 'CONFIG_INVALID')) throw error;
    parts.log.error({ err: error, webhook: webhook._id }, 'the secret of a webhook does not open: nothing is sent to it');
    return 'sealed';
  }
}

/**
 * The event as the webhook's owner may see it now. `later` when the chain does not say what that is, and when the wallet has lost its
 * tier, which suspends the webhook; `gone` when the event is kept no longer.
 */
async function bodyFor(parts: DeliverParts, { _id, wallet }: WebhookDoc, head: DeliveryDoc): Promise<string | 'later' | 'gone'> {
  const event = head.eventId === null ? null : await parts.events.event(head.eventId);
  if (event === null) return 'gone';
  try {
    const tier = await parts.tierOf(wallet);
    if (tier === 'public') {
      await parts.standing.suspend(_id, parts.now());
      parts.log.info({ webhook: _id }, 'a webhook is suspended: its wallet has lost the Basic tier');
      await putOff(parts, head, RECHECK_MS);
      return 'later';
    }
    const caller: Caller = { tier, wallet: wallet as Caller['wallet'] & string };
    return JSON.stringify(viewEvent(event, caller, parts.view));
  } catch (error) {
    if (!isOracleError(error, 'CHAIN_UNREACHABLE')) throw error;
    await putOff(parts, head, PUT_OFF_MS.unreadable);
    return 'later';
  }
}

/** The webhook's end is written before that of its delivery: whoever dies in between leaves nothing ended but what is told to be. */
async function settle(parts: DeliverParts, webhook: WebhookDoc, head: DeliveryDoc, called: Called): Promise<boolean> {
  const { standing, queue, log, random } = parts;
  const { attempt } = called;
  const { verdict, end } = judge({ webhook, attempts: attemptsAt(webhook, head) + 1, called }, random);
  if (attempt.reason === null) {
    await standing.worked(webhook);
    return queue.record(head, attempt, verdict, attempt.at);
  }
  const counts = end === null ? await standing.failed(webhook, attempt.at) : await standing.end(webhook, { ...end, at: attempt.at });
  // What another URL has answered says nothing of this one, which is called now.
  const mine = await queue.record(head, attempt, counts ? verdict : { state: 'PENDING', nextAttemptAt: attempt.at }, attempt.at);
  if (end === null || !counts) return mine;
  log.warn({ webhook: webhook._id, by: end.by, reason: end.reason }, 'a webhook was disabled');
  return false;
}

/** Attempts at the URL that the webhook leads to now. */
function attemptsAt({ urlSetAt }: WebhookDoc, { attempts }: DeliveryDoc): number {
  return urlSetAt === undefined ? attempts.length : attempts.filter(({ at }) => at >= urlSetAt).length;
}

async function writeOff({ queue, now }: DeliverParts, head: DeliveryDoc): Promise<boolean> {
  const at = now();
  return queue.record(head, { at, status: null, ms: 0, reason: 'The event is no longer kept' }, { state: 'FAILED' }, at);
}

async function putOff({ queue, now }: DeliverParts, head: DeliveryDoc, ms: number): Promise<false> {
  await queue.postpone(head, new Date(now().getTime() + ms));
  return false;
}

/** For how long a turn lasts at the most: with its last call, and what the database takes before and after it. */
export function longestTurnMs({ turnMs = TURN_MS, timeoutMs = CALL_TIMEOUT_MS, marginMs = MARGIN_MS }: TurnTimes): number {
  return turnMs + timeoutMs + 2 * marginMs;
}

type TurnTimes = Pick<DeliverParts, 'turnMs' | 'timeoutMs' | 'marginMs'>;

export const isDue = ({ nextAttemptAt }: DeliveryDoc, now: Date) => nextAttemptAt === null || nextAttemptAt <= now;
const isOver = ({ stopping }: DeliverParts, endMs: number) => stopping.aborted || performance.now() >= endMs;
