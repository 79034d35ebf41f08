import type { Log } from '../../log.ts';
import { Waker } from '../waker.ts';
import { type DeliverParts, deliver, isDue, longestTurnMs } from './deliver.ts';
import type { DeliveryDoc } from './delivery.ts';
import { type FanOutParts, fanOut } from './fan-out.ts';

/** Work on a webhook's queue, to be done by whichever worker. */
export interface Turn {
  /** Id of the webhook. */
  subject: string;
  at: Date;
}

/** Queues a turn, once a webhook as long as that is queued or under way. */
export type Enqueue = (turn: Turn) => Promise<void>;

export interface DispatcherParts extends DeliverParts, FanOutParts {
  queue: DeliverParts['queue'];
  events: DeliverParts['events'] & FanOutParts['events'];
  /** Brings changes into the event log that no process has told of. */
  publish(): Promise<unknown>;
  /** How often it is looked for what other processes have queued, or let fall. */
  pollMs?: number;
  /** What is due for so long is queued again, other than usual. */
  overdueMs?: number;
}

/** What a worker does for webhooks. */
export interface Dispatcher {
  /** Turns that are taken at once in this process. */
  concurrency: number;
  /** After this time a turn without an end is somebody else's. */
  lockMs: number;
  /** Takes a turn. Never rejects: what fails is looked for again. */
  run(turn: Turn): Promise<void>;
  /** Looks once more when a turn is out of the queue: what came when it was about to end could not be queued. */
  ended(turn: Turn): Promise<void>;
  /** Queues events and turns until the signal; `ended` resolves after it. */
  start(enqueue: Enqueue, signal: AbortSignal): { wake(): void; ended: Promise<void> };
}

const CONCURRENCY = 16;
const POLL_MS = 1_000;
/** What is due for so long is queued again: it may have been lost with whoever had it. */
const OVERDUE_MS = 5_000;
const MOST_DUE = 1_000;

export function createDispatcher(parts: DispatcherParts): Dispatcher {
  const { log, now } = parts;
  let queueTurn: Enqueue = async () => undefined;
  return {
    concurrency: CONCURRENCY,
    lockMs: longestTurnMs(parts),
    async run({ subject }) {
      try {
        await deliver(parts, subject);
      } catch (error) {
        log.error({ err: error, webhook: subject }, 'a webhook could not be sent to: trying again');
      }
    },
    async ended({ subject }) {
      if (parts.stopping.aborted) return;
      const head = await parts.queue.head(subject);
      // What has its time later is found when that has come: until then it takes nobody's place.
      if (head !== null && isDue(head, now())) await queueTurn(turnOf(head, now()));
    },
    start(enqueue, signal) {
      queueTurn = enqueue;
      const waker = new Waker(signal);
      return { wake: () => waker.wake(), ended: dispatch(parts, { enqueue, waker, signal }) };
    },
  };
}

interface Loop {
  enqueue: Enqueue;
  waker: Waker;
  signal: AbortSignal;
}

async function dispatch(parts: DispatcherParts, { enqueue, waker, signal }: Loop): Promise<void> {
  const { overdueMs = OVERDUE_MS, pollMs = POLL_MS } = parts;
  const trying = apart(parts.log);
  let queued: Queued = new Map();
  for (let round = 0; !signal.aborted; round++) {
    await trying('publish', () => parts.publish());
    await trying('fan out', () => fanOut(parts));
    // At the start too: a worker that was killed may have left something.
    if (round % Math.ceil(overdueMs / pollMs) === 0) await trying('wake', () => wakeStranded(parts));
    await trying('queue turns', async () => {
      queued = await queueDue(parts, enqueue, queued);
    });
    await waker.sleep(pollMs);
  }
}

/** Does pieces of work whose failures stop nothing else, and tells of those once until they work again. */
function apart(log: Log): (what: string, work: () => Promise<unknown>) => Promise<void> {
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
async function wakeStranded({ queue, now }: DispatcherParts): Promise<void> {
  for (const webhookId of await queue.waiting()) await queue.wake(webhookId, now());
}

/** By webhook, what its turn was queued for, and when. */
type Queued = Map<string, { head: string; atMs: number }>;

/** @param before what was queued: it need not be again before it is overdue */
async function queueDue({ queue, now, overdueMs = OVERDUE_MS }: DispatcherParts, enqueue: Enqueue, before: Queued): Promise<Queued> {
  const at = now();
  const queued: Queued = new Map();
  for (const doc of await queue.due(at, MOST_DUE)) {
    const head = `${doc.position}:${doc.nextAttemptAt!.getTime()}`;
    const last = before.get(doc.webhookId);
    const isKnown = last?.head === head && at.getTime() - last.atMs < overdueMs;
    if (!isKnown) await enqueue(turnOf(doc, at));
    queued.set(doc.webhookId, isKnown ? last : { head, atMs: at.getTime() });
  }
  return queued;
}

function turnOf({ webhookId, nextAttemptAt }: DeliveryDoc, now: Date): Turn {
  return { subject: webhookId, at: nextAttemptAt ?? now };
}
