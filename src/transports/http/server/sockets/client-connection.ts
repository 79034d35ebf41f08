import type { Socket } from 'node:net';
import type { ConnectionBudget, ReleaseSlot } from './connection-budget.ts';

/** A connection as the budgets of connections and of unsent bytes know it. */
export class ClientConnection {
  readonly socket: Socket;
  readonly budget: ConnectionBudget;
  /** True where the peer is a trusted proxy: its requests are counted instead, each by the address that the proxy forwards. */
  readonly isProxied: boolean;
  /** The address key that its bytes are counted for; of a proxied connection that of its latest request. */
  address: string;
  /** True until its first request shows whether it may use the reserve. */
  isProvisional = false;
  /** True once the server has ended its side. */
  isEnding = false;
  /** Takes room for the bytes of a response; false where its address, a range around it or all clients leave too much unread. */
  reserveBytes: (bytes: number) => Promise<boolean> = async () => true;
  #claim: ReleaseSlot | null = null;

  constructor(socket: Socket, { budget, address, isProxied }: Pick<ClientConnection, 'budget' | 'address' | 'isProxied'>) {
    this.socket = socket;
    this.budget = budget;
    this.address = address;
    this.isProxied = isProxied;
  }

  /** Keeps a place in the budget until `release`. */
  assignSlot(releaseSlot: ReleaseSlot): void {
    this.release();
    this.#claim = releaseSlot;
  }

  release(): void {
    this.#claim?.();
    this.#claim = null;
  }
}

const connections = new WeakMap<object, ClientConnection>();

export function registerConnection(connection: ClientConnection): void {
  connections.set(connection.socket, connection);
}

/** The connection of a socket; undefined for sockets of other servers, and for those that a WebSocket has taken. */
export function getConnection(socket: object): ClientConnection | undefined {
  return connections.get(socket);
}

/** Takes a connection out of the budgets of HTTP: a WebSocket counts by its wallet, and watches its own reader. */
export function forgetConnection(socket: object): void {
  connections.get(socket)?.release();
  connections.delete(socket);
}
