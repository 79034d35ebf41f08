import type { Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { addressKey } from '../security/client-address.ts';
import { ClientConnection, connectionOf, forgetConnection, registerConnection } from './client-connection.ts';
import { ConnectionBudget, DEFAULT_MAX_CONNECTIONS } from './connection-budget.ts';
import { DeliveryWatch, type DeliveryWatchOptions } from './delivery-watch.ts';
import { Probation } from './probation.ts';
import { isTrustedProxy } from './trusted-proxy.ts';

export interface SocketLimits {
  /** Connections of the general share; a reserve of an eighth is on top. Unset: `DEFAULT_MAX_CONNECTIONS`. */
  maxConnections?: number;
  /** Proxies whose connections count by the addresses that they forward. Unset: none. */
  trustProxy?: number | readonly string[];
  /** Bytes that clients have not taken yet, by range of addresses. */
  unsent?: DeliveryWatchOptions['limits'];
}

/** Puts all sockets of a server under the budgets of connections and of unsent bytes; returns how watching ends. */
export function watchSockets(server: Server, { stalledMs, ...limits }: SocketLimits & Pick<DeliveryWatchOptions, 'stalledMs'>): () => void {
  const budget = new ConnectionBudget(limits.maxConnections ?? DEFAULT_MAX_CONNECTIONS);
  const probation = new Probation(budget.maxOnProbation);
  const isProxy = isTrustedProxy(limits.trustProxy);
  const port = () => (server.address() as AddressInfo | null)?.port ?? 0;
  const watch = new DeliveryWatch({ stalledMs, port, ...(limits.unsent === undefined ? {} : { limits: limits.unsent }) });

  server.on('connection', (socket: Socket) => {
    const { remoteAddress = '' } = socket;
    const address = addressKey(remoteAddress) ?? 'unknown';
    const connection = new ClientConnection(socket, { budget, address, isProxied: isProxy(remoteAddress) });
    connection.reserveBytes = (bytes) => watch.reserve(connection, bytes);
    registerConnection(connection);
    watch.add(connection);
    if (!connection.isProxied) enter(connection, probation);
    const destroySoon = socket.destroySoon.bind(socket);
    socket.destroySoon = () => watch.end(connection, destroySoon);
    socket.once('close', () => {
      forgetConnection(socket);
      probation.end(connection);
      watch.remove(connection);
    });
  });
  server.on('request', ({ socket }, response) => {
    const connection = connectionOf(socket);
    if (connection === undefined) return;
    probation.end(connection);
    // Written, though not yet taken by the operating system.
    response.once('prefinish', () => watch.noteWritten(connection));
  });
  server.on('upgrade', ({ socket }) => {
    const connection = connectionOf(socket);
    if (connection !== undefined) probation.end(connection);
  });
  // Of a connection that is kept open, and idle for `keepAliveTimeout`.
  server.on('timeout', (socket) => {
    const connection = connectionOf(socket);
    if (connection === undefined) return socket.destroy();
    watch.end(connection, () => socket.destroy());
  });
  return () => watch.stop();
}

function enter(connection: ClientConnection, probation: Probation): void {
  const claim = connection.budget.claimGeneral(connection.address);
  if (claim === null) probation.begin(connection);
  else connection.hold(claim);
}
