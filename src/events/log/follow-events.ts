import { WakeSignal } from '../../platform/concurrency/wake-signal.ts';
import type { Log } from '../../platform/log.ts';
import type { AnyEvent } from './event.ts';
import type { EventLog } from './event-log.ts';

/** Receives each event once, in order; if it throws, the same events are retried. */
export type EventListener = (events: readonly AnyEvent[]) => void | Promise<void>;

export interface EventTailOptions {
  events: EventLog;
  listener: EventListener;
  log: Log;
  signal: AbortSignal;
  pollMs?: number;
  failurePauseMs?: number;
}

export interface EventTail {
  wake(): void;
  getSeenId(): number;
  ended: Promise<void>;
}

const POLL_MS = 500;
const PAGE_SIZE = 200;
/** Spares an unavailable database. */
const FAILURE_PAUSE_MS = 2_000;

/** From the current end of the log. @throws OracleError, MongoError if the first read fails */
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
