import type { Turns } from '../../platform/turns.ts';
import type { EventLog } from '../events/log.ts';
import type { Clock } from './clock.ts';
import type { Connection } from './connection.ts';
import type { EncodeEvent } from './encode.ts';

export interface ReplayOptions {
  events: Pick<EventLog, 'after'>;
  /** Id up to which all live connections of this process have been told. */
  through(): number;
  newEncoder(): EncodeEvent;
  /** So many read at once. */
  turns: Turns;
  clock: Clock;
}

const PAGE = 100;
/** A log that ends before what this process has told is asked again so many times, and after such a rest. */
const EMPTY = { most: 6, restMs: 500 } as const;

/**
 * Sends what a connection has missed, in order, as fast as it reads, and hands over to what happens now without a gap or a double:
 * it goes on reading until it stands where this process stands, and what it has sent by then is not sent again.
 * @throws Error where the log ends before that, as one that was restored from a backup does
 */
export async function replay(connection: Connection, { events, through, newEncoder, turns, clock }: ReplayOptions): Promise<void> {
  let empty = 0;
  while (!connection.isEnding) {
    const page = await turns.run(() => events.after(connection.lastId, PAGE));
    const [first] = page;
    if (first !== undefined && first._id > connection.lastId + 1) {
      connection.tell('replay.gap', { from: connection.lastId + 1, to: first._id - 1 });
    }
    const encode = newEncoder();
    for (const event of page) connection.offer(event, encode);
    await connection.drained();
    if (connection.lastId >= through() && page.length < PAGE) {
      connection.tell('replay.complete', { through: connection.lastId });
      return connection.goLive();
    }
    empty = first === undefined ? empty + 1 : 0;
    if (empty === EMPTY.most) throw new Error(`the log ends at ${connection.lastId}, and connections were told up to ${through()}`);
    // After a first one what came during the reading is there.
    if (empty > 1) await new Promise<void>((resolve) => void clock.after(EMPTY.restMs, resolve));
  }
}
