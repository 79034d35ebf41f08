import type { ClientConnection } from './client-connection.ts';

/** Time for the head of the first request of a connection without a slot. */
const PROVISIONAL_MS = 2_000;

/** Connections without a slot. Beyond the maximum the oldest is reset, so that idle clients cannot keep others out. */
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

  /** On its first request, or on close. */
  end(connection: ClientConnection): void {
    clearTimeout(this.#timers.get(connection));
    this.#timers.delete(connection);
  }

  #reset(connection: ClientConnection): void {
    this.end(connection);
    connection.socket.resetAndDestroy();
  }
}
