import type { Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { toAddressKey } from '../security/client-address.ts';
import { ClientConnection, forgetConnection, getConnection, registerConnection } from './client-connection.ts';
import { ConnectionBudget, DEFAULT_MAX_CONNECTIONS } from './connection-budget.ts';
import { ProvisionalConnections } from './provisional-connections.ts';
import { createProxyCheck } from './trusted-proxy.ts';
import { UnsentBytesMonitor, type UnsentBytesOptions } from './unsent-bytes-monitor.ts';

export interface SocketLimits {
  /** Connections of the general share; a reserve of an eighth is on top. Unset: `DEFAULT_MAX_CONNECTIONS`. */
  maxConnections?: number;
  /** Proxies whose connections count by the addresses that they forward. Unset: none. */
  trustProxy?: number | readonly string[];
  /** Bytes that clients have not taken yet, by range of addresses. */
  unsent?: UnsentBytesOptions['limits'];
}

/** Puts all sockets of a server under the budgets of connections and of unsent bytes; returns how watching ends. */
export function watchSockets(server: Server, { stalledMs, ...limits }: SocketLimits & Pick<UnsentBytesOptions, 'stalledMs'>): () => void {
  const budget = new ConnectionBudget(limits.maxConnections ?? DEFAULT_MAX_CONNECTIONS);
  const provisional = new ProvisionalConnections(budget.maxProvisional);
  const isProxy = createProxyCheck(limits.trustProxy);
  const port = () => (server.address() as AddressInfo | null)?.port ?? 0;
  const monitor = new UnsentBytesMonitor({ stalledMs, port, ...(limits.unsent === undefined ? {} : { limits: limits.unsent }) });

  server.on('connection', (socket: Socket) => {
    const { remoteAddress = '' } = socket;
    const address = toAddressKey(remoteAddress) ?? 'unknown';
    const connection = new ClientConnection(socket, { budget, address, isProxied: isProxy(remoteAddress) });
    connection.reserveBytes = (bytes) => monitor.reserve(connection, bytes);
    registerConnection(connection);
    monitor.add(connection);
    if (!connection.isProxied) admitConnection(connection, provisional);
    const destroySoon = socket.destroySoon.bind(socket);
    socket.destroySoon = () => monitor.end(connection, destroySoon);
    socket.once('close', () => {
      forgetConnection(socket);
      provisional.end(connection);
      monitor.remove(connection);
    });
  });
  server.on('request', ({ socket }, response) => {
    const connection = getConnection(socket);
    if (connection === undefined) return;
    provisional.end(connection);
    // Written, though not yet taken by the operating system.
    response.once('prefinish', () => monitor.onResponseWritten(connection));
  });
  server.on('upgrade', ({ socket }) => {
    const connection = getConnection(socket);
    if (connection !== undefined) provisional.end(connection);
  });
  // Of a connection that is kept open, and idle for `keepAliveTimeout`.
  server.on('timeout', (socket) => {
    const connection = getConnection(socket);
    if (connection === undefined) return socket.destroy();
    monitor.end(connection, () => socket.destroy());
  });
  return () => monitor.stop();
}

function admitConnection(connection: ClientConnection, provisional: ProvisionalConnections): void {
  const releaseSlot = connection.budget.acquireGeneral(connection.address);
  if (releaseSlot === null) provisional.begin(connection);
  else connection.assignSlot(releaseSlot);
}
