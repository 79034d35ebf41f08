import { WakeSignal } from '../../../platform/concurrency/wake-signal.ts';
import type { Log } from '../../../platform/log.ts';
import { type DeliverDeps, deliverToWebhook, getMaxTurnMs, isDue } from './deliver-to-webhook.ts';
import type { WebhookDeliveryDoc } from './delivery.ts';
import { type FanOutDeps, fanOutEvents } from './fan-out.ts';

/** Work on a webhook's queue, to be done by whichever worker. */
export interface DeliveryTurn {
  /** Id of the webhook. */
  subject: string;
  at: Date;
}

/** Queues a turn, once a webhook as long as that is queued or under way. */
export type EnqueueTurn = (turn: DeliveryTurn) => Promise<void>;

export interface WebhookDispatcherDeps extends DeliverDeps, FanOutDeps {
  queue: DeliverDeps['queue'];
  events: DeliverDeps['events'] & FanOutDeps['events'];
  /** Brings changes into the event log that no process has told of. */
  publish(): Promise<unknown>;
  /** How often it is looked for what other processes have queued, or let fall. */
  pollMs?: number;
  /** What is due for so long is queued again, other than usual. */
  overdueMs?: number;
}

/** What a worker does for webhooks. */
export interface WebhookDispatcher {
  /** Turns that are taken at once in this process. */
  concurrency: number;
  /** After this time a turn without an end is somebody else's. */
  lockMs: number;
  /** Takes a turn. Never rejects: what fails is looked for again. */
  run(turn: DeliveryTurn): Promise<void>;
  /** Looks once more when a turn is out of the queue: what came when it was about to end could not be queued. */
  ended(turn: DeliveryTurn): Promise<void>;
  /** Queues events and turns until the signal; `ended` resolves after it. */
  start(enqueue: EnqueueTurn, signal: AbortSignal): { wake(): void; ended: Promise<void> };
}

const CONCURRENCY = 16;
const POLL_MS = 1_000;
/** What is due for so long is queued again: it may have been lost with whoever had it. */
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
      // What has its time later is found when that has come: until then it takes nobody's place.
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
    // At the start too: a worker that was killed may have left something.
    if (round % Math.ceil(overdueMs / pollMs) === 0) await isolate('wake', () => wakeStrandedQueues(deps));
    await isolate('queue turns', async () => {
      queued = await queueDueTurns(deps, enqueue, queued);
    });
    await wakeSignal.sleep(pollMs);
  }
}

/** Does pieces of work whose failures stop nothing else, and tells of those once until they work again. */
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

/** Heads that became so when their sender died have no time. */
async function wakeStrandedQueues({ queue, now }: WebhookDispatcherDeps): Promise<void> {
  for (const webhookId of await queue.listWaiting()) await queue.wake(webhookId, now());
}

/** By webhook, what its turn was queued for, and when. */
type QueuedTurns = Map<string, { head: string; atMs: number }>;

/** @param before what was queued: it need not be again before it is overdue */
async function queueDueTurns(
  { queue, now, overdueMs = OVERDUE_MS }: WebhookDispatcherDeps,
  enqueue: EnqueueTurn,
  before: QueuedTurns,
): Promise<QueuedTurns> {
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
