import { WakeSignal } from '../../platform/concurrency/wake-signal.ts';
import type { Log } from '../../platform/log.ts';
import type { AnyEvent } from './event.ts';
import type { EventLog } from './event-log.ts';

/** Takes events in the order of the log, each once; what it throws is retried with the same events. */
export type EventListener = (events: readonly AnyEvent[]) => void | Promise<void>;

export interface EventTailOptions {
  events: EventLog;
  listener: EventListener;
  log: Log;
  /** Ends it. */
  signal: AbortSignal;
  /** How often the log of other processes is looked at. */
  pollMs?: number;
  /** How long to wait after a failure. */
  failurePauseMs?: number;
}

/** A process's own view of the log, as it grows in whichever process. */
export interface EventTail {
  /** Looks at once: something was appended here. */
  wake(): void;
  /** Id up to which the listener has taken all. */
  getSeenId(): number;
  /** Resolves when it has ended. */
  ended: Promise<void>;
}

const POLL_MS = 500;
const PAGE_SIZE = 200;
/** After a failure, so that a database that is down is not asked all the time. */
const FAILURE_PAUSE_MS = 2_000;

/** Follows the log from its present end on. @throws by its first look: OracleError, MongoError when the database is down */
export async function followEvents(options: EventTailOptions): Promise<EventTail> {
  const { events, listener, log, signal, pollMs = POLL_MS, failurePauseMs = FAILURE_PAUSE_MS } = options;
  let seen = await events.lastId();
  const wakeSignal = new WakeSignal(signal);

  async function readNew(): Promise<void> {
    for (;;) {
      const page = await events.after(seen, PAGE_SIZE);
      if (page.length === 0) return;
      await listener(page);
      seen = page.at(-1)!._id;
    }
  }

  async function follow(): Promise<void> {
    let failing = false;
    while (!signal.aborted) {
      try {
        await readNew();
        failing = false;
      } catch (error) {
        if (!failing) log.error({ err: error }, 'events could not be read or passed on: trying again');
        failing = true;
      }
      await wakeSignal.sleep(failing ? failurePauseMs : pollMs);
    }
  }

  return { wake: () => wakeSignal.wake(), getSeenId: () => seen, ended: follow() };
}
