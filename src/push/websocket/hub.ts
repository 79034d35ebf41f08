import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Log } from '../../log.ts';
import { Turns } from '../../platform/turns.ts';
import { WEBSOCKET } from '../channels.ts';
import type { AnyEvent } from '../events/event.ts';
import type { EventLog } from '../events/log.ts';
import type { EventViewOptions } from '../events/view.ts';
import type { Clock } from './clock.ts';
import type { CloseCause } from './close-codes.ts';
import type { Connection } from './connection.ts';
import { createEncoder } from './encode.ts';
import type { Standing } from './holder.ts';
import { replay } from './replay.ts';
import type { Slots } from './slots.ts';

export interface HubOptions {
  events: Pick<EventLog, 'after'>;
  slots: Pick<Slots, 'renew' | 'release' | 'releaseAll'>;
  view: EventViewOptions;
  /** What sessions are worth now, by their ids. */
  standings(sessionIds: readonly string[]): Promise<ReadonlyMap<string, Standing>>;
  clock: Clock;
  log: Log;
}

/** So many replays read the log at once. */
const REPLAYS_READING = 8;
/** For so long the last look at the sessions stands in for a database that does not answer. */
const STANDS_IN_MS = 5 * 60_000;

/** All connections of a process: tells them what happens, and looks after them. */
export class Hub {
  readonly #options: HubOptions;
  readonly #connections = new Map<string, Connection>();
  /** Slots that could not be freed yet, by the ids of their connections. */
  readonly #unfreed = new Map<string, string>();
  readonly #turns = new Turns({ underWay: REPLAYS_READING, waiting: Number.POSITIVE_INFINITY });
  #through = 0;
  #isClosing = false;
  #cancelRound: () => void = () => undefined;
  #lastLookMs: number;
  #looking: Promise<void> | undefined;

  constructor(options: HubOptions) {
    this.#options = options;
    this.#lastLookMs = options.clock.now().getTime();
  }

  get isClosing(): boolean {
    return this.#isClosing;
  }

  /** How many are connected. */
  get size(): number {
    return this.#connections.size;
  }

  /** Id up to which all that are live have been told. */
  get through(): number {
    return this.#through;
  }

  /** Begins to look after connections, every 30 s. @param through id of the last event that nobody here is told any more */
  start(through: number): void {
    this.#through = Math.max(this.#through, through);
    const next = () => {
      this.#cancelRound = this.#options.clock.after(WEBSOCKET.pingSeconds * 1_000, () => {
        next();
        void this.round();
      });
    };
    next();
  }

  /** Takes a connection in. With `replays` it gets what it has missed first. @param slot what is freed when it ends */
  add(connection: Connection, { slot, replays, requestId }: { slot: string; replays: boolean; requestId: string }): void {
    const { log } = this.#options;
    const { id, wallet } = connection;
    this.#connections.set(id, connection);
    log.debug({ connection: id, wallet, requestId }, 'a WebSocket was opened');
    void connection.closed.then(async () => {
      this.#connections.delete(id);
      log.debug({ connection: id, wallet, cause: connection.cause }, 'a WebSocket was closed');
      await this.free(slot, id);
    });
    connection.begin({ lastEventId: Math.max(this.#through, connection.lastId), pingSeconds: WEBSOCKET.pingSeconds });
    if (replays) void this.#replay(connection);
    else connection.goLive();
  }

  /** Frees the slot of a connection that is gone, or never came about; one that cannot be freed now is freed in a later round. */
  async free(slot: string, id: string): Promise<void> {
    try {
      await this.#options.slots.release(slot, id);
      this.#unfreed.delete(id);
    } catch (error) {
      this.#unfreed.set(id, slot);
      this.#options.log.error({ err: error }, 'a slot of a WebSocket could not be freed: trying again');
    }
  }

  /** Tells all that are live, in order; between two events others have their turn. What it throws on is told by another call with the same. */
  async broadcast(events: readonly AnyEvent[]): Promise<void> {
    const encode = createEncoder(this.#options.view);
    for (const event of events) {
      if (event._id <= this.#through) continue;
      for (const connection of this.#connections.values()) if (connection.isLive) connection.offer(event, encode);
      this.#through = event._id;
      await nextTurn();
    }
  }

  /** Pings all, holds their slots, and ends those whose session or balance is no longer what it takes. */
  async round(): Promise<void> {
    for (const connection of this.#connections.values()) connection.ping();
    // One look at a time, however long it takes.
    this.#looking ??= this.#lookAfter().finally(() => {
      this.#looking = undefined;
    });
    await this.#looking;
  }

  /** Says farewell to all, and resolves once they are gone; the slowest are dropped. */
  async close(): Promise<void> {
    this.#isClosing = true;
    this.#cancelRound();
    const ended = [...this.#connections.values()].map(({ closed }) => closed);
    this.#closeAll('goingAway');
    await Promise.all(ended);
    await this.#options.slots.releaseAll();
  }

  async #lookAfter(): Promise<void> {
    try {
      await this.#holdSlots();
      for (const [id, slot] of this.#unfreed) await this.free(slot, id);
      await this.#lookAgain();
      this.#lastLookMs = this.#options.clock.now().getTime();
    } catch (error) {
      this.#options.log.error({ err: error }, 'the connections could not be looked after: trying again');
      if (this.#options.clock.now().getTime() - this.#lastLookMs > STANDS_IN_MS) this.#closeAll('tryLater');
    }
  }

  #closeAll(cause: CloseCause): void {
    for (const connection of this.#connections.values()) connection.close(cause);
  }

  async #replay(connection: Connection): Promise<void> {
    const { events, view, clock, log } = this.#options;
    try {
      const through = () => this.#through;
      await replay(connection, { events, through, newEncoder: () => createEncoder(view), turns: this.#turns, clock });
    } catch (error) {
      log.error({ err: error, connection: connection.id }, 'what a WebSocket has missed could not be read');
      connection.close('tryLater');
    }
  }

  async #holdSlots(): Promise<void> {
    for (const id of await this.#options.slots.renew([...this.#connections.keys()])) this.#connections.get(id)?.close('tryLater');
  }

  async #lookAgain(): Promise<void> {
    const asked = [...this.#connections.values()].map((connection) => ({ connection, sessionId: connection.sessionId }));
    if (asked.length === 0) return;
    const standings = await this.#options.standings([...new Set(asked.map(({ sessionId }) => sessionId))]);
    for (const { connection, sessionId } of asked) {
      // Another token may have come meanwhile.
      if (connection.sessionId === sessionId) judge(connection, standings.get(sessionId) ?? 'ended');
    }
  }
}

function judge(connection: Connection, standing: Standing): void {
  if (standing === 'ended') connection.close('tokenExpired');
  else if (standing === 'unknown') connection.close('tryLater');
  else connection.setTier(standing);
}
