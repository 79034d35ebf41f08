import type { Semaphore } from '../../platform/concurrency/semaphore.ts';
import type { EventLog } from '../log/event-log.ts';
import type { Clock } from './clock.ts';
import type { Connection } from './connection.ts';
import type { EventEncoder } from './messages/encode-message.ts';

export interface MissedEventsOptions {
  events: Pick<EventLog, 'after'>;
  getLastBroadcastId(): number;
  createEncoder(): EventEncoder;
  semaphore: Semaphore;
  clock: Clock;
}

const PAGE_SIZE = 100;
/** Retries when the log ends before the last broadcast event. */
const EMPTY_PAGE_RETRIES = { max: 6, delayMs: 500 } as const;

/** At the client's pace; then broadcasts continue without gap or duplicate. @throws Error if the log ends early, as after a restored backup */
export async function replayMissedEvents(connection: Connection, options: MissedEventsOptions): Promise<void> {
  const { events, getLastBroadcastId, createEncoder, semaphore, clock } = options;
  let emptyPages = 0;
  while (!connection.isClosing) {
    const page = await semaphore.run(() => events.after(connection.lastId, PAGE_SIZE));
    const [first] = page;
    if (first !== undefined && first._id > connection.lastId + 1) {
      connection.sendMessage('replay.gap', { from: connection.lastId + 1, to: first._id - 1 });
    }
    connection.offerEvents(page, createEncoder());
    await connection.waitUntilDrained();
    if (connection.lastId >= getLastBroadcastId() && page.length < PAGE_SIZE) {
      connection.sendMessage('replay.complete', { through: connection.lastId });
      return connection.goLive();
    }
    emptyPages = first === undefined ? emptyPages + 1 : 0;
    if (emptyPages === EMPTY_PAGE_RETRIES.max)
      throw new Error(`the log ends at ${connection.lastId}, but event ${getLastBroadcastId()} was broadcast`);
    // The first empty page may only mean that events arrived during the read.
    if (emptyPages > 1) await new Promise<void>((resolve) => void clock.after(EMPTY_PAGE_RETRIES.delayMs, resolve));
  }
}
