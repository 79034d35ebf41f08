import type { ClientConnection } from './client-connection.ts';
import { UNSENT_LIMITS } from './connection-budget.ts';
import { type KernelQueues, readKernelQueues } from './kernel-queues.ts';
import { RangeCounts, type RangeLimits } from './range-counts.ts';

/** Fewer bytes than this since a socket was last seen empty are not looked for in the kernel. */
const NEGLIGIBLE_BYTES = 16_384;

/** A response of more than this is looked for at once, and not with the next sweep. */
const LARGE_BYTES = 262_144;

const LOOK_SOON_MS = 250;

export interface DeliveryWatchOptions {
  /** A socket with unsent bytes is reset when nothing could be written to it for so long, milliseconds. */
  stalledMs: number;
  /** Unset: `UNSENT_LIMITS`. */
  limits?: RangeLimits;
  /** The local port; asked for once connections are there. */
  port(): number;
}

interface Delivery {
  /** `bytesWritten` when the socket was last seen without unsent bytes. */
  emptyAt: number;
  /** `bytesWritten` at the end of the latest response. */
  notedAt: number;
  /** Bytes that the client had not taken by the last look, in this process or in the kernel. */
  unsent: number;
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
export class DeliveryWatch {
  readonly #options: DeliveryWatchOptions;
  readonly #limits: RangeLimits;
  readonly #deliveries = new Map<ClientConnection, Delivery>();
  readonly #sweeps: NodeJS.Timeout;
  #soon: NodeJS.Timeout | undefined;
  #isLooking = false;
  #seesKernel = process.platform === 'linux';

  constructor(options: DeliveryWatchOptions) {
    this.#options = options;
    this.#limits = options.limits ?? UNSENT_LIMITS;
    this.#sweeps = setInterval(() => void this.#look(), Math.min(5_000, options.stalledMs / 4)).unref();
  }

  add(connection: ClientConnection): void {
    this.#deliveries.set(connection, { emptyAt: 0, notedAt: 0, unsent: 0, state: '', movedAtMs: performance.now() });
  }

  remove(connection: ClientConnection): void {
    this.#deliveries.delete(connection);
  }

  /** A response was written: a large one is looked after soon. */
  noteWritten(connection: ClientConnection): void {
    const delivery = this.#deliveries.get(connection);
    if (delivery === undefined) return;
    const { bytesWritten } = connection.socket;
    if (bytesWritten - delivery.notedAt > LARGE_BYTES) this.#lookSoon();
    delivery.notedAt = bytesWritten;
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
    const delivery = this.#deliveries.get(connection);
    return delivery === undefined ? 0 : connection.socket.bytesWritten - delivery.emptyAt;
  }

  #lookSoon(): void {
    this.#soon ??= setTimeout(() => {
      this.#soon = undefined;
      void this.#look();
    }, LOOK_SOON_MS).unref();
  }

  /** Where nothing is unsent that matters this costs a pass over the connections. */
  async #look(): Promise<void> {
    if (this.#isLooking) return;
    const suspects = [...this.#deliveries].filter(([{ socket }, { emptyAt }]) => socket.bytesWritten - emptyAt > NEGLIGIBLE_BYTES);
    const others = [...this.#deliveries].filter(([{ socket }, { unsent }]) => socket.writableLength > 0 || unsent > 0);
    if (suspects.length + others.length === 0) return;
    this.#isLooking = true;
    try {
      const queues = await this.#readQueues();
      const pending = [...new Map([...suspects, ...others])].filter((entry) => this.#update(entry, queues));
      this.#enforce(pending);
    } finally {
      this.#isLooking = false;
    }
  }

  async #readQueues(): Promise<KernelQueues> {
    const queues = this.#seesKernel ? await readKernelQueues(this.#options.port()) : null;
    this.#seesKernel = queues !== null;
    return queues ?? (() => 0);
  }

  /** Takes in what a socket holds now; true where its client has not taken all of it. */
  #update([{ socket, isEnding }, delivery]: [ClientConnection, Delivery], queues: KernelQueues): boolean {
    const inKernel = queues(socket);
    // The end of a connection counts as one byte.
    delivery.unsent = Math.max(socket.writableLength, inKernel > 1 ? inKernel : 0);
    if (delivery.unsent === 0) {
      Object.assign(delivery, { emptyAt: socket.bytesWritten, state: '' });
      if (isEnding && socket.writableFinished) socket.destroy();
      return false;
    }
    const state = `${socket.bytesWritten} ${socket.writableLength} ${inKernel}`;
    if (state !== delivery.state) Object.assign(delivery, { state, movedAtMs: performance.now() });
    return !socket.destroyed;
  }

  /** Resets what is stalled, and where a limit is exceeded those first whose clients have taken nothing for longest. */
  #enforce(pending: [ClientConnection, Delivery][]): void {
    const counts = new RangeCounts(this.#limits);
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
