import type { ClientConnection } from './client-connection.ts';

/** For the head of the first request of a connection that the general share has no place for. */
export const PROVISIONAL_MS = 2_000;

/**
 * Connections without a place whose first request is awaited. A new one is always taken: where there are too many, the oldest of them is
 * reset, so that clients that send nothing cannot keep others out.
 */
export class ProvisionalConnections {
  readonly #max: number;
  readonly #timers = new Map<ClientConnection, NodeJS.Timeout>();

  constructor(max: number) {
    this.#max = max;
  }

  begin(connection: ClientConnection): void {
    const [oldest] = this.#timers.size >= this.#max ? this.#timers.keys() : [];
    if (oldest !== undefined) this.#reset(oldest);
    connection.isProvisional = true;
    this.#timers.set(connection, setTimeout(() => this.#reset(connection), PROVISIONAL_MS).unref());
  }

  /** Its first request is there, or it has closed. */
  end(connection: ClientConnection): void {
    clearTimeout(this.#timers.get(connection));
    this.#timers.delete(connection);
  }

  #reset(connection: ClientConnection): void {
    this.end(connection);
    connection.socket.resetAndDestroy();
  }
}
