import type { Log } from '../../log.ts';
import { Waker } from '../waker.ts';
import { CALL_TIMEOUT_MS } from './call.ts';
import { type DeliverParts, deliver, TURN_MS } from './deliver.ts';
import type { DeliveryDoc } from './delivery.ts';
import { type FanOutParts, fanOut } from './fan-out.ts';

/** Work on a webhook's queue, to be done by whichever worker. */
export interface Turn {
  key: string;
  /** Id of the webhook. */
  subject: string;
  at: Date;
}

/** Queues a turn, once a key as long as that is queued or under way. */
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
  /** Queues events and turns until the signal; `ended` resolves after it. */
  start(enqueue: Enqueue, signal: AbortSignal): { wake(): void; ended: Promise<void> };
}

const CONCURRENCY = 16;
/** Longer than a turn with its last call, and than Agenda may hold it before. */
const LOCK_MS = 2 * (TURN_MS + CALL_TIMEOUT_MS) + 10_000;
const POLL_MS = 1_000;
/** What is due for so long is queued again: whoever had it may be dead. */
const OVERDUE_MS = 5_000;
const MOST_DUE = 1_000;

export function createDispatcher(parts: DispatcherParts): Dispatcher {
  const { log, now } = parts;
  let queueTurn: Enqueue = async () => undefined;
  return {
    concurrency: CONCURRENCY,
    lockMs: LOCK_MS,
    async run({ subject }) {
      try {
        const head = await deliver(parts, subject);
        if (head !== null && !parts.stopping.aborted) await queueTurn(turnOf(head, now(), parts.overdueMs));
      } catch (error) {
        log.error({ err: error, webhook: subject }, 'a webhook could not be sent to: trying again');
      }
    },
    start(enqueue, signal) {
      queueTurn = enqueue;
      const waker = new Waker(signal);
      return { wake: () => waker.wake(), ended: dispatch({ parts, enqueue, log, waker }, signal) };
    },
  };
}

interface Loop {
  parts: DispatcherParts;
  enqueue: Enqueue;
  log: Log;
  waker: Waker;
}

async function dispatch({ parts, enqueue, log, waker }: Loop, signal: AbortSignal): Promise<void> {
  let queued = new Map<string, string>();
  let failing = false;
  for (let round = 0; !signal.aborted; round++) {
    try {
      await parts.publish();
      await fanOut(parts);
      // At the start too: a worker that was killed may have left something.
      if (round % Math.ceil((parts.overdueMs ?? OVERDUE_MS) / (parts.pollMs ?? POLL_MS)) === 0) await wakeStranded(parts);
      queued = await queueDue(parts, enqueue, queued);
      failing = false;
    } catch (error) {
      if (!failing) log.error({ err: error }, 'webhooks could not be looked after: trying again');
      failing = true;
    }
    await waker.sleep(parts.pollMs ?? POLL_MS);
  }
}

/** Heads that became so when their sender died have no time. */
async function wakeStranded({ queue, now }: DispatcherParts): Promise<void> {
  for (const webhookId of await queue.waiting()) await queue.wake(webhookId, now());
}

/** @param before turns by webhook that were queued the round before: they need not be queued again */
async function queueDue(
  { queue, now, overdueMs }: DispatcherParts,
  enqueue: Enqueue,
  before: Map<string, string>,
): Promise<Map<string, string>> {
  const at = now();
  const turns = (await queue.due(at, MOST_DUE)).map((head) => turnOf(head, at, overdueMs));
  for (const turn of turns) if (before.get(turn.subject) !== turn.key) await enqueue(turn);
  return new Map(turns.map(({ subject, key }) => [subject, key]));
}

/** A turn for each attempt, and further ones while it is overdue. */
function turnOf({ webhookId, position, nextAttemptAt }: DeliveryDoc, now: Date, overdueMs = OVERDUE_MS): Turn {
  const at = nextAttemptAt ?? now;
  const overdue = Math.max(0, Math.floor((now.getTime() - at.getTime()) / overdueMs));
  const key = `${webhookId}:${position}:${at.getTime()}`;
  return { key: overdue === 0 ? key : `${key}:${overdue}`, subject: webhookId, at };
}
