import { AddressRangeCounter, type RangeLimits } from './address-range-counter.ts';
import type { ClientConnection } from './client-connection.ts';
import { UNSENT_LIMITS } from './connection-budget.ts';
import { type KernelSendQueues, readKernelSendQueues } from './kernel-send-queues.ts';

/** Fewer bytes than this are not looked for in the kernel, and need no room. */
export const NEGLIGIBLE_BYTES = 16_384;

/** A response of more than this is looked for at once, and not with the next sweep. */
const LARGE_BYTES = 262_144;

const INSPECT_SOON_MS = 250;

/** A client that has taken nothing for so long gives up its connection where another one needs the room. */
const MIN_IDLE_MS = 1_000;

export interface UnsentBytesOptions {
  /** A socket with unsent bytes is reset when nothing could be written to it for so long, milliseconds. */
  stalledMs: number;
  /** Unset: `UNSENT_LIMITS`. */
  limits?: RangeLimits;
  /** The local port; asked for once connections are there. */
  port(): number;
}

interface SendState {
  /** `bytesWritten` when the socket was last seen without unsent bytes. */
  emptyAt: number;
  /** `bytesWritten` at the end of the latest response. */
  notedAt: number;
  /** Bytes that the client had not taken by the last look, in this process or in the kernel. */
  unsent: number;
  /** Room that it has: for what was unsent by the last look, and for the responses since. */
  reservedBytes: number;
  /** The address that has given the room: that of a proxied connection changes. */
  reservedFor: string;
  /** What changes whenever the client takes anything. */
  state: string;
  /** Monotonic milliseconds of the last change of `state`. */
  movedAtMs: number;
}

/**
 * Watches what clients do not read. What the kernel has taken no longer counts as unsent for Node, and stays in memory for minutes after
 * the socket is closed; so its queues are read as well, and sockets are reset, which frees them. Elsewhere than on Linux only what Node
 * holds is seen.
 */
export class UnsentBytesMonitor {
  readonly #options: UnsentBytesOptions;
  readonly #limits: RangeLimits;
  readonly #deliveries = new Map<ClientConnection, SendState>();
  readonly #rooms: AddressRangeCounter;
  readonly #sweeps: NodeJS.Timeout;
  #looking: Promise<void> | undefined;
  #soon: NodeJS.Timeout | undefined;
  #seesKernel = process.platform === 'linux';

  constructor(options: UnsentBytesOptions) {
    this.#options = options;
    this.#limits = options.limits ?? UNSENT_LIMITS;
    this.#rooms = new AddressRangeCounter(this.#limits);
    this.#sweeps = setInterval(() => void this.#look(), Math.min(5_000, options.stalledMs / 4)).unref();
  }

  add(connection: ClientConnection): void {
    this.#deliveries.set(connection, {
      ...{ emptyAt: 0, notedAt: 0, unsent: 0, reservedBytes: 0, reservedFor: connection.address },
      ...{ state: '', movedAtMs: performance.now() },
    });
  }

  remove(connection: ClientConnection): void {
    const sendState = this.#deliveries.get(connection);
    if (sendState !== undefined) this.#setRoom(sendState, 0);
    this.#deliveries.delete(connection);
  }

  /**
   * Takes room for a response that is about to be written. Where a range of the address, or all clients, have none left, the kernel is
   * asked what was taken meanwhile, and connections that have taken nothing for a second are reset.
   * @returns false where there is no room
   */
  async reserve(connection: ClientConnection, bytes: number): Promise<boolean> {
    if (this.#tryReserve(connection, bytes)) return true;
    await this.#look();
    if (this.#tryReserve(connection, bytes)) return true;
    this.#resetIdle(connection.address, bytes);
    return this.#tryReserve(connection, bytes);
  }

  #tryReserve(connection: ClientConnection, bytes: number): boolean {
    const sendState = this.#deliveries.get(connection);
    // Its socket has closed: nothing will be written.
    if (sendState === undefined) return true;
    const { address } = connection;
    if (sendState.reservedFor !== address) this.#setRoom(sendState, 0);
    sendState.reservedFor = address;
    if (!this.#rooms.tryAdd(address, bytes)) return false;
    sendState.reservedBytes += bytes;
    return true;
  }

  #setRoom(sendState: SendState, bytes: number): void {
    this.#rooms.add(sendState.reservedFor, bytes - sendState.reservedBytes);
    sendState.reservedBytes = bytes;
  }

  /** Resets connections without progress, longest first, as far as they make room for these bytes of an address. */
  #resetIdle(address: string, bytes: number): void {
    const idleSince = performance.now() - MIN_IDLE_MS;
    const idle = [...this.#deliveries].filter(([, { unsent, movedAtMs }]) => unsent > 0 && movedAtMs < idleSince);
    for (const [connection, sendState] of idle.toSorted(([, one], [, other]) => one.movedAtMs - other.movedAtMs)) {
      if (this.#rooms.hasRoom(address, bytes)) return;
      if (this.#rooms.hasRoom(address, bytes, sendState.reservedFor)) continue;
      this.#setRoom(sendState, 0);
      connection.socket.resetAndDestroy();
    }
  }

  /** A response was written: a large one is looked after soon. */
  onResponseWritten(connection: ClientConnection): void {
    const sendState = this.#deliveries.get(connection);
    if (sendState === undefined) return;
    const { bytesWritten } = connection.socket;
    if (bytesWritten - sendState.notedAt > LARGE_BYTES) this.#lookSoon();
    sendState.notedAt = bytesWritten;
  }

  /** Ends a connection; one that may have bytes in the kernel stays in view until its client has taken them, or is reset. */
  end(connection: ClientConnection, destroy: () => void): void {
    if (!this.#seesKernel || this.#sinceEmpty(connection) <= NEGLIGIBLE_BYTES) {
      destroy();
    } else {
      connection.isEnding = true;
      connection.socket.end();
      this.#lookSoon();
    }
  }

  stop(): void {
    clearInterval(this.#sweeps);
    clearTimeout(this.#soon);
  }

  #sinceEmpty(connection: ClientConnection): number {
    const sendState = this.#deliveries.get(connection);
    return sendState === undefined ? 0 : connection.socket.bytesWritten - sendState.emptyAt;
  }

  #lookSoon(): void {
    this.#soon ??= setTimeout(() => {
      this.#soon = undefined;
      void this.#look();
    }, INSPECT_SOON_MS).unref();
  }

  /** Where nothing is unsent that matters this costs a pass over the connections. */
  #look(): Promise<void> {
    this.#looking ??= this.#readAll().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  async #readAll(): Promise<void> {
    const suspects = [...this.#deliveries].filter(([{ socket }, { emptyAt }]) => socket.bytesWritten - emptyAt > NEGLIGIBLE_BYTES);
    const others = [...this.#deliveries].filter(
      ([{ socket }, { unsent, reservedBytes: room }]) => socket.writableLength > 0 || unsent > 0 || room > 0,
    );
    if (suspects.length + others.length === 0) return;
    const queues = await this.#readQueues();
    // One that closed meanwhile has given its room back already.
    const open = [...new Map([...suspects, ...others])].filter(([connection]) => this.#deliveries.has(connection));
    const pending = open.filter((entry) => this.#update(entry, queues));
    this.#enforce(pending);
  }

  async #readQueues(): Promise<KernelSendQueues> {
    const queues = this.#seesKernel ? await readKernelSendQueues(this.#options.port()) : null;
    this.#seesKernel = queues !== null;
    return queues ?? (() => 0);
  }

  /** Takes in what a socket holds now; true where its client has not taken all of it. */
  #update([{ socket, isEnding }, sendState]: [ClientConnection, SendState], queues: KernelSendQueues): boolean {
    const inKernel = queues(socket);
    // The end of a connection counts as one byte.
    sendState.unsent = Math.max(socket.writableLength, inKernel > 1 ? inKernel : 0);
    this.#setRoom(sendState, sendState.unsent);
    if (sendState.unsent === 0) {
      Object.assign(sendState, { emptyAt: socket.bytesWritten, state: '' });
      if (isEnding && socket.writableFinished) socket.destroy();
      return false;
    }
    const state = `${socket.bytesWritten} ${socket.writableLength} ${inKernel}`;
    if (state !== sendState.state) Object.assign(sendState, { state, movedAtMs: performance.now() });
    return !socket.destroyed;
  }

  /** Resets what is stalled, and where a limit is exceeded those first whose clients have taken nothing for longest. */
  #enforce(pending: [ClientConnection, SendState][]): void {
    const counts = new AddressRangeCounter(this.#limits);
    for (const [{ address }, { unsent }] of pending) counts.add(address, unsent);
    const stalledBefore = performance.now() - this.#options.stalledMs;
    const slowestFirst = pending.toSorted(([, one], [, other]) => one.movedAtMs - other.movedAtMs || other.unsent - one.unsent);
    for (const [{ socket, address }, { unsent, movedAtMs }] of slowestFirst) {
      if (movedAtMs > stalledBefore && !counts.isExceeded(address)) continue;
      counts.add(address, -unsent);
      socket.resetAndDestroy();
    }
  }
}
