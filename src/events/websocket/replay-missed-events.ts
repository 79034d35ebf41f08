import type { Semaphore } from '../../platform/concurrency/semaphore.ts';
import type { EventLog } from '../log/event-log.ts';
import type { Clock } from './clock.ts';
import type { Connection } from './connection.ts';
import type { EncodeEvent } from './messages/encode-message.ts';

export interface MissedEventsOptions {
  events: Pick<EventLog, 'after'>;
  /** Id up to which all live connections of this process have been told. */
  getLastBroadcastId(): number;
  createEncoder(): EncodeEvent;
  /** So many read at once. */
  semaphore: Semaphore;
  clock: Clock;
}

const PAGE_SIZE = 100;
/** A log that ends before what this process has told is asked again so many times, and after such a rest. */
const EMPTY_PAGE_RETRIES = { most: 6, restMs: 500 } as const;

/**
 * Sends what a connection has missed, in order, as fast as it reads, and hands over to what happens now without a gap or a double:
 * it goes on reading until it stands where this process stands, and what it has sent by then is not sent again.
 * @throws Error where the log ends before that, as one that was restored from a backup does
 */
export async function replayMissedEvents(
  connection: Connection,
  { events, getLastBroadcastId, createEncoder, semaphore, clock }: MissedEventsOptions,
): Promise<void> {
  let emptyPages = 0;
  while (!connection.isClosing) {
    const page = await semaphore.run(() => events.after(connection.lastId, PAGE_SIZE));
    const [first] = page;
    if (first !== undefined && first._id > connection.lastId + 1) {
      connection.sendMessage('replay.gap', { from: connection.lastId + 1, to: first._id - 1 });
    }
    const encode = createEncoder();
    for (const event of page) connection.offerEvent(event, encode);
    await connection.waitUntilDrained();
    if (connection.lastId >= getLastBroadcastId() && page.length < PAGE_SIZE) {
      connection.sendMessage('replay.complete', { through: connection.lastId });
      return connection.goLive();
    }
    emptyPages = first === undefined ? emptyPages + 1 : 0;
    if (emptyPages === EMPTY_PAGE_RETRIES.most)
      throw new Error(`the log ends at ${connection.lastId}, and connections were told up to ${getLastBroadcastId()}`);
    // After a first one what came during the reading is there.
    if (emptyPages > 1) await new Promise<void>((resolve) => void clock.after(EMPTY_PAGE_RETRIES.restMs, resolve));
  }
}
