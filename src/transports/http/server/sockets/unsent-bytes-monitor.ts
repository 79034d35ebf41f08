import { AddressRangeCounter, type RangeLimits } from './address-range-counter.ts';
import type { ClientConnection } from './client-connection.ts';
import { UNSENT_LIMITS } from './connection-budget.ts';
import { type KernelSendQueues, readKernelSendQueues } from './kernel-send-queues.ts';

/** Fewer bytes are neither looked up in the kernel nor reserved. */
export const NEGLIGIBLE_BYTES = 16_384;

/** A larger response triggers an early sweep. */
const LARGE_BYTES = 262_144;

const INSPECT_SOON_MS = 250;

/** Time without progress after which a connection may be reset to make room for another. */
const MIN_IDLE_MS = 1_000;

export interface UnsentBytesOptions {
  /** Milliseconds without progress after which a socket with unsent bytes is reset. */
  stalledMs: number;
  /** Default: `UNSENT_LIMITS`. */
  limits?: RangeLimits;
  /** The local port, read once connections exist. */
  port(): number;
}

interface SendState {
  /** `bytesWritten` when the socket last had no unsent bytes. */
  emptyAt: number;
  /** `bytesWritten` at the end of the latest response. */
  notedAt: number;
  /** Unread bytes in process and kernel by the last sweep. */
  unsent: number;
  /** Bytes reserved: those unsent by the last sweep, and responses since. */
  reservedBytes: number;
  /** Address that the reservation counts for; that of a proxied connection changes. */
  reservedFor: string;
  /** Changes whenever the client reads. */
  progress: string;
  /** Monotonic time of the last change of `progress`. */
  movedAtMs: number;
}

type Entry = [ClientConnection, SendState];

/**
 * Bounds the response bytes that clients leave unread. Bytes in a kernel buffer do not count as unsent in Node, and stay in memory for
 * minutes after a close; so the kernel queues are read too (Linux only), and sockets are reset, which frees the buffers.
 */
export class UnsentBytesMonitor {
  readonly #options: UnsentBytesOptions;
  readonly #limits: RangeLimits;
  readonly #states = new Map<ClientConnection, SendState>();
  readonly #reserved: AddressRangeCounter;
  readonly #sweepTimer: NodeJS.Timeout;
  #sweeping: Promise<void> | undefined;
  #soonTimer: NodeJS.Timeout | undefined;
  #seesKernel = process.platform === 'linux';

  constructor(options: UnsentBytesOptions) {
    this.#options = options;
    this.#limits = options.limits ?? UNSENT_LIMITS;
    this.#reserved = new AddressRangeCounter(this.#limits);
    this.#sweepTimer = setInterval(() => void this.#sweep(), Math.min(5_000, options.stalledMs / 4)).unref();
  }

  add(connection: ClientConnection): void {
    this.#states.set(connection, {
      emptyAt: 0,
      notedAt: 0,
      unsent: 0,
      reservedBytes: 0,
      reservedFor: connection.address,
      progress: '',
      movedAtMs: performance.now(),
    });
  }

  remove(connection: ClientConnection): void {
    const state = this.#states.get(connection);
    if (state !== undefined) this.#setReserved(state, 0);
    this.#states.delete(connection);
  }

  /** False where a limit is reached. Before that it sweeps, and then resets connections that have been idle for a second. */
  async reserve(connection: ClientConnection, bytes: number): Promise<boolean> {
    if (this.#tryReserve(connection, bytes)) return true;
    await this.#sweep();
    if (this.#tryReserve(connection, bytes)) return true;
    this.#resetIdle(connection.address, bytes);
    return this.#tryReserve(connection, bytes);
  }

  #tryReserve(connection: ClientConnection, bytes: number): boolean {
    const state = this.#states.get(connection);
    // A closed socket: nothing will be written.
    if (state === undefined) return true;
    const { address } = connection;
    if (state.reservedFor !== address) this.#setReserved(state, 0);
    state.reservedFor = address;
    if (!this.#reserved.tryAdd(address, bytes)) return false;
    state.reservedBytes += bytes;
    return true;
  }

  #setReserved(state: SendState, bytes: number): void {
    this.#reserved.add(state.reservedFor, bytes - state.reservedBytes);
    state.reservedBytes = bytes;
  }

  /** Resets idle connections, the longest idle first, until the bytes fit. */
  #resetIdle(address: string, bytes: number): void {
    const idleSince = performance.now() - MIN_IDLE_MS;
    const idle = [...this.#states].filter(([, { unsent, movedAtMs }]) => unsent > 0 && movedAtMs < idleSince);
    for (const [connection, state] of idle.toSorted(([, one], [, other]) => one.movedAtMs - other.movedAtMs)) {
      if (this.#reserved.hasRoom(address, bytes)) return;
      if (this.#reserved.hasRoom(address, bytes, state.reservedFor)) continue;
      this.#setReserved(state, 0);
      connection.socket.resetAndDestroy();
    }
  }

  onResponseWritten(connection: ClientConnection): void {
    const state = this.#states.get(connection);
    if (state === undefined) return;
    const { bytesWritten } = connection.socket;
    if (bytesWritten - state.notedAt > LARGE_BYTES) this.#sweepSoon();
    state.notedAt = bytesWritten;
  }

  /** Closes a connection; one with bytes in the kernel stays monitored until its client has read them, or is reset. */
  end(connection: ClientConnection, destroy: () => void): void {
    if (!this.#seesKernel || this.#countSinceEmpty(connection) <= NEGLIGIBLE_BYTES) {
      destroy();
    } else {
      connection.isEnding = true;
      connection.socket.end();
      this.#sweepSoon();
    }
  }

  stop(): void {
    clearInterval(this.#sweepTimer);
    clearTimeout(this.#soonTimer);
  }

  #countSinceEmpty(connection: ClientConnection): number {
    const state = this.#states.get(connection);
    return state === undefined ? 0 : connection.socket.bytesWritten - state.emptyAt;
  }

  #sweepSoon(): void {
    this.#soonTimer ??= setTimeout(() => {
      this.#soonTimer = undefined;
      void this.#sweep();
    }, INSPECT_SOON_MS).unref();
  }

  #sweep(): Promise<void> {
    this.#sweeping ??= this.#readAll().finally(() => {
      this.#sweeping = undefined;
    });
    return this.#sweeping;
  }

  /** Reads the kernel tables only where a connection may have unsent bytes. */
  async #readAll(): Promise<void> {
    const candidates = [...this.#states].filter(
      ([{ socket }, { emptyAt, unsent, reservedBytes }]) =>
        socket.bytesWritten - emptyAt > NEGLIGIBLE_BYTES || socket.writableLength > 0 || unsent > 0 || reservedBytes > 0,
    );
    if (candidates.length === 0) return;
    const queues = await this.#readQueues();
    // A connection that closed meanwhile has released its reservation.
    const open = candidates.filter(([connection]) => this.#states.has(connection));
    this.#enforce(open.filter((entry) => this.#update(entry, queues)));
  }

  async #readQueues(): Promise<KernelSendQueues> {
    const queues = this.#seesKernel ? await readKernelSendQueues(this.#options.port()) : null;
    this.#seesKernel = queues !== null;
    return queues ?? (() => 0);
  }

  /** Records the unsent bytes of a socket; true while there are any. */
  #update([{ socket, isEnding }, state]: Entry, queues: KernelSendQueues): boolean {
    const inKernel = queues(socket);
    // FIN counts as one byte.
    state.unsent = Math.max(socket.writableLength, inKernel > 1 ? inKernel : 0);
    this.#setReserved(state, state.unsent);
    if (state.unsent === 0) {
      Object.assign(state, { emptyAt: socket.bytesWritten, progress: '' });
      if (isEnding && socket.writableFinished) socket.destroy();
      return false;
    }
    const progress = `${socket.bytesWritten} ${socket.writableLength} ${inKernel}`;
    if (progress !== state.progress) Object.assign(state, { progress, movedAtMs: performance.now() });
    return !socket.destroyed;
  }

  /** Resets stalled sockets, and above a limit those with the longest time without progress. */
  #enforce(pending: Entry[]): void {
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
