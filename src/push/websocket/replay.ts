import type { EventLog } from '../events/log.ts';
import type { Turns } from '../turns.ts';
import type { Connection } from './connection.ts';
import type { EncodeEvent } from './encode.ts';

export interface ReplayOptions {
  events: Pick<EventLog, 'after'>;
  /** Id up to which all live connections of this process have been told. */
  through(): number;
  newEncoder(): EncodeEvent;
  /** So many read at once. */
  turns: Turns;
}

const PAGE = 100;

/**
 * Sends what a connection has missed, in order, as fast as it reads, and hands over to what happens now without a gap or a double:
 * it goes on reading until it stands where this process stands, and what it has sent by then is not sent again.
 */
export async function replay(connection: Connection, { events, through, newEncoder, turns }: ReplayOptions): Promise<void> {
  while (!connection.isEnding) {
    const page = await turns.run(() => events.after(connection.lastId, PAGE));
    const [first] = page;
    if (first !== undefined && first._id > connection.lastId + 1) {
      connection.tell('replay.gap', { from: connection.lastId + 1, to: first._id - 1 });
    }
    const encode = newEncoder();
    for (const event of page) connection.offer(event, encode);
    await connection.drained();
    if (page.length === PAGE || connection.lastId < through()) continue;
    connection.tell('replay.complete', { through: connection.lastId });
    return connection.goLive();
  }
}
