import { setImmediate as nextTurn } from 'node:timers/promises';
import { Semaphore } from '../../platform/concurrency/semaphore.ts';
import type { Log } from '../../platform/log.ts';
import { WEBSOCKET } from '../channels.ts';
import type { EventViewOptions } from '../event-view.ts';
import type { AnyEvent } from '../log/event.ts';
import type { EventLog } from '../log/event-log.ts';
import type { Clock } from './clock.ts';
import type { Connection } from './connection.ts';
import type { ConnectionSlotStore } from './connection-slot-store.ts';
import type { CloseCause } from './messages/close-codes.ts';
import { createEventEncoder } from './messages/encode-message.ts';
import { replayMissedEvents } from './replay-missed-events.ts';
import type { SessionEntitlement } from './session-holder.ts';

export interface ConnectionHubOptions {
  events: Pick<EventLog, 'after'>;
  slots: Pick<ConnectionSlotStore, 'heartbeat' | 'release' | 'releaseAll'>;
  view: EventViewOptions;
  readEntitlements(credentialIds: readonly string[]): Promise<ReadonlyMap<string, SessionEntitlement>>;
  clock: Clock;
  log: Log;
}

const MAX_CONCURRENT_REPLAYS = 8;
/** Of a broadcast, in a few milliseconds. */
const CONNECTIONS_A_TURN = 500;
/** Maximum age of the last check while the database does not respond. */
const MAX_CHECK_AGE_MS = 5 * 60_000;

export class ConnectionHub {
  readonly #options: ConnectionHubOptions;
  readonly #connections = new Map<string, Connection>();
  /** Slots whose release failed, by connection id. */
  readonly #unreleasedSlots = new Map<string, string>();
  readonly #replaySemaphore = new Semaphore({ maxConcurrent: MAX_CONCURRENT_REPLAYS, maxQueued: Number.POSITIVE_INFINITY });
  #lastBroadcastId = 0;
  #isClosing = false;
  #cancelNextCheck: () => void = () => undefined;
  #lastCheckMs: number;
  #checking: Promise<void> | undefined;

  constructor(options: ConnectionHubOptions) {
    this.#options = options;
    this.#lastCheckMs = options.clock.now().getTime();
  }

  get isClosing(): boolean {
    return this.#isClosing;
  }

  get size(): number {
    return this.#connections.size;
  }

  get lastBroadcastId(): number {
    return this.#lastBroadcastId;
  }

  start(through: number): void {
    this.#lastBroadcastId = Math.max(this.#lastBroadcastId, through);
    const next = () => {
      this.#cancelNextCheck = this.#options.clock.after(WEBSOCKET.pingSeconds * 1_000, () => {
        next();
        void this.checkConnections();
      });
    };
    next();
  }

  /** Adds a connection, which with `replays` first receives missed events. @param slot released when it closes */
  add(connection: Connection, { slot, replays, requestId }: { slot: string; replays: boolean; requestId: string }): void {
    const { log } = this.#options;
    const { id, wallet } = connection;
    this.#connections.set(id, connection);
    log.debug({ connection: id, wallet, requestId }, 'a WebSocket was opened');
    void connection.closed.then(async () => {
      this.#connections.delete(id);
      log.debug({ connection: id, wallet, cause: connection.closeCause }, 'a WebSocket was closed');
      await this.releaseSlot(slot, id);
    });
    connection.start({ lastEventId: Math.max(this.#lastBroadcastId, connection.lastId), pingSeconds: WEBSOCKET.pingSeconds });
    if (replays) void this.#replay(connection);
    else connection.goLive();
  }

  /** Releases the slot of a closed or failed connection; a failed release is retried in the next round. */
  async releaseSlot(slot: string, id: string): Promise<void> {
    try {
      await this.#options.slots.release(slot, id);
      this.#unreleasedSlots.delete(id);
    } catch (error) {
      this.#unreleasedSlots.set(id, slot);
      this.#options.log.error({ err: error }, 'a slot of a WebSocket could not be freed: trying again');
    }
  }

  /** Sends events to all live connections in order, yielding between groups of connections. After an error a repeated call continues. */
  async broadcast(events: readonly AnyEvent[]): Promise<void> {
    const before = this.#lastBroadcastId;
    const news = events.filter(({ _id }) => _id > before);
    if (news.length === 0) return;
    // Before the first yield: a connection that goes live meanwhile has read these events itself, and one that opens begins after them.
    this.#lastBroadcastId = news.at(-1)!._id;
    const failure = await this.#offerToAll(news);
    if (failure === null) return;
    this.#lastBroadcastId = before;
    throw failure.error;
  }

  /** Returns the first error: an event that fails for one tier does not keep the others from theirs. */
  async #offerToAll(events: readonly AnyEvent[]): Promise<{ error: unknown } | null> {
    const encoder = createEventEncoder(this.#options.view);
    let failure: { error: unknown } | null = null;
    let offered = 0;
    for (const connection of this.#connections.values()) {
      try {
        if (connection.isLive) connection.offerEvents(events, encoder);
      } catch (error) {
        failure ??= { error };
      }
      offered += 1;
      if (offered % CONNECTIONS_A_TURN === 0) await nextTurn();
    }
    await nextTurn();
    return failure;
  }

  /** Pings all connections, extends their slot leases, and closes those whose session or tier has ended. */
  async checkConnections(): Promise<void> {
    for (const connection of this.#connections.values()) connection.ping();
    // One check at a time.
    this.#checking ??= this.#checkAll().finally(() => {
      this.#checking = undefined;
    });
    await this.#checking;
  }

  /** Closes all connections and waits for them; slow ones are terminated. */
  async close(): Promise<void> {
    this.#isClosing = true;
    this.#cancelNextCheck();
    const ended = [...this.#connections.values()].map(({ closed }) => closed);
    this.#closeAll('goingAway');
    await Promise.all(ended);
    await this.#options.slots.releaseAll();
  }

  async #checkAll(): Promise<void> {
    try {
      await this.#renewSlots();
      for (const [id, slot] of this.#unreleasedSlots) await this.releaseSlot(slot, id);
      await this.#checkEntitlements();
      this.#lastCheckMs = this.#options.clock.now().getTime();
    } catch (error) {
      this.#options.log.error({ err: error }, 'the connections could not be looked after: trying again');
      if (Math.abs(this.#options.clock.now().getTime() - this.#lastCheckMs) > MAX_CHECK_AGE_MS) this.#closeAll('tryLater');
    }
  }

  #closeAll(cause: CloseCause): void {
    for (const connection of this.#connections.values()) connection.close(cause);
  }

  async #replay(connection: Connection): Promise<void> {
    const { events, view, clock, log } = this.#options;
    try {
      await replayMissedEvents(connection, {
        events,
        getLastBroadcastId: () => this.#lastBroadcastId,
        createEncoder: () => createEventEncoder(view),
        semaphore: this.#replaySemaphore,
        clock,
      });
    } catch (error) {
      log.error({ err: error, connection: connection.id }, 'what a WebSocket has missed could not be read');
      connection.close('tryLater');
    }
  }

  async #renewSlots(): Promise<void> {
    for (const id of await this.#options.slots.heartbeat([...this.#connections.keys()])) this.#connections.get(id)?.close('tryLater');
  }

  async #checkEntitlements(): Promise<void> {
    const checked = [...this.#connections.values()].map((connection) => ({ connection, credentialId: connection.credentialId }));
    if (checked.length === 0) return;
    const entitlements = await this.#options.readEntitlements([...new Set(checked.map(({ credentialId }) => credentialId))]);
    for (const { connection, credentialId } of checked) {
      // The connection may have reauthenticated meanwhile.
      if (connection.credentialId === credentialId) applyEntitlement(connection, entitlements.get(credentialId) ?? 'ended');
    }
  }
}

function applyEntitlement(connection: Connection, entitlement: SessionEntitlement): void {
  if (entitlement === 'ended') connection.close('tokenExpired');
  else if (entitlement === 'unknown') connection.close('tryLater');
  else connection.setTier(entitlement);
}
