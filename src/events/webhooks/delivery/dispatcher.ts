import { WakeSignal } from '../../../platform/concurrency/wake-signal.ts';
import type { Log } from '../../../platform/log.ts';
import { type DeliverDeps, deliverToWebhook, getMaxTurnMs, isDue } from './deliver-to-webhook.ts';
import type { WebhookDeliveryDoc } from './delivery.ts';
import { type FanOutDeps, fanOutEvents } from './fan-out.ts';

export interface DeliveryTurn {
  subject: string;
  at: Date;
}

export type EnqueueTurn = (turn: DeliveryTurn) => Promise<void>;

export interface WebhookDispatcherDeps extends DeliverDeps, FanOutDeps {
  queue: DeliverDeps['queue'];
  events: DeliverDeps['events'] & FanOutDeps['events'];
  publish(): Promise<unknown>;
  pollMs?: number;
  overdueMs?: number;
}

export interface WebhookDispatcher {
  concurrency: number;
  lockMs: number;
  run(turn: DeliveryTurn): Promise<void>;
  /** Checks again after a turn has left the job queue: messages that arrived at its end could not be queued. */
  ended(turn: DeliveryTurn): Promise<void>;
  /** Queues events and turns until the signal aborts; then `ended` resolves. */
  start(enqueue: EnqueueTurn, signal: AbortSignal): { wake(): void; ended: Promise<void> };
}

const CONCURRENCY = 16;
const POLL_MS = 1_000;
/** A message due for longer is queued again: its worker may have died. */
const OVERDUE_MS = 5_000;
const MAX_DUE = 1_000;

export function createWebhookDispatcher(deps: WebhookDispatcherDeps): WebhookDispatcher {
  const { log, now } = deps;
  let queueTurn: EnqueueTurn = async () => undefined;
  return {
    concurrency: CONCURRENCY,
    lockMs: getMaxTurnMs(deps),
    async run({ subject }) {
      try {
        await deliverToWebhook(deps, subject);
      } catch (error) {
        log.error({ err: error, webhook: subject }, 'a webhook could not be sent to: trying again');
      }
    },
    async ended({ subject }) {
      if (deps.stopping.aborted) return;
      const head = await deps.queue.findHead(subject);
      // A head due later is found by polling, and takes no slot until then.
      if (head !== null && isDue(head, now())) await queueTurn(toDeliveryTurn(head, now()));
    },
    start(enqueue, signal) {
      queueTurn = enqueue;
      const wakeSignal = new WakeSignal(signal);
      return { wake: () => wakeSignal.wake(), ended: runDispatchLoop(deps, { enqueue, wakeSignal, signal }) };
    },
  };
}

interface DispatchLoop {
  enqueue: EnqueueTurn;
  wakeSignal: WakeSignal;
  signal: AbortSignal;
}

async function runDispatchLoop(deps: WebhookDispatcherDeps, { enqueue, wakeSignal, signal }: DispatchLoop): Promise<void> {
  const { overdueMs = OVERDUE_MS, pollMs = POLL_MS } = deps;
  const isolate = createFailureIsolator(deps.log);
  let queued: QueuedTurns = new Map();
  for (let round = 0; !signal.aborted; round++) {
    await isolate('publish', () => deps.publish());
    await isolate('fan out', () => fanOutEvents(deps));
    // In the first round too: a killed worker may have left messages.
    if (round % Math.ceil(overdueMs / pollMs) === 0) await isolate('wake', () => wakeStrandedQueues(deps));
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

/** A head whose sender died before scheduling it has no time. */
async function wakeStrandedQueues({ queue, now }: WebhookDispatcherDeps): Promise<void> {
  for (const webhookId of await queue.listWaiting()) await queue.wake(webhookId, now());
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
