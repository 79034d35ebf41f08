import type { Socket } from 'node:net';
import type { ConnectionBudget, ReleaseSlot } from './connection-budget.ts';

export class ClientConnection {
  readonly socket: Socket;
  readonly budget: ConnectionBudget;
  /** The peer is a trusted proxy: its requests are counted instead, each for the forwarded address. */
  readonly isProxied: boolean;
  /** Address key that its bytes count for; of a proxied connection that of its latest request. */
  address: string;
  /** Its first request is awaited, to decide whether it may use the reserve. */
  isProvisional = false;
  /** The server has closed its side. */
  isEnding = false;
  /** Reserves memory for the bytes of a response; false where the client, its range or all clients leave too much unread. */
  reserveBytes: (bytes: number) => Promise<boolean> = async () => true;
  #releaseSlot: ReleaseSlot | null = null;

  constructor(socket: Socket, { budget, address, isProxied }: Pick<ClientConnection, 'budget' | 'address' | 'isProxied'>) {
    this.socket = socket;
    this.budget = budget;
    this.address = address;
    this.isProxied = isProxied;
  }

  assignSlot(releaseSlot: ReleaseSlot): void {
    this.release();
    this.#releaseSlot = releaseSlot;
  }

  release(): void {
    this.#releaseSlot?.();
    this.#releaseSlot = null;
  }
}

const connections = new WeakMap<object, ClientConnection>();

export function registerConnection(connection: ClientConnection): void {
  connections.set(connection.socket, connection);
}

/** Undefined for sockets of other servers and of WebSockets. */
export function getConnection(socket: object): ClientConnection | undefined {
  return connections.get(socket);
}

/** Removes a connection from the HTTP budgets: a WebSocket counts per wallet, and monitors its own backlog. */
export function forgetConnection(socket: object): void {
  connections.get(socket)?.release();
  connections.delete(socket);
}
