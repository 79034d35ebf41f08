import type { Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import express from 'express';
import { toAddressKey } from '../security/client-address.ts';
import { ClientConnection, forgetConnection, getConnection, registerConnection } from './client-connection.ts';
import { ConnectionBudget, DEFAULT_MAX_CONNECTIONS, type ShareUse } from './connection-budget.ts';
import { ProvisionalConnections } from './provisional-connections.ts';
import { UnsentBytesMonitor, type UnsentBytesOptions } from './unsent-bytes-monitor.ts';

export interface SocketLimits {
  /** Size of the general share; a reserve of an eighth is in addition. Default: `DEFAULT_MAX_CONNECTIONS`. */
  maxConnections?: number;
  /** Proxies whose connections count for the forwarded addresses. Default: none. */
  trustProxy?: number | readonly string[];
  unsent?: UnsentBytesOptions['limits'];
}

export interface WatchedSockets {
  listUse(): ShareUse[];
  stop(): void;
}

/** Applies the budgets of connections and unsent bytes to all sockets of a server until it is stopped. */
export function watchSockets(
  server: Server,
  { stalledMs, ...limits }: SocketLimits & Pick<UnsentBytesOptions, 'stalledMs'>,
): WatchedSockets {
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
    // `finish` would wait for the operating system to accept all bytes.
    response.once('prefinish', () => monitor.onResponseWritten(connection));
  });
  server.on('upgrade', ({ socket }) => {
    const connection = getConnection(socket);
    if (connection !== undefined) provisional.end(connection);
  });
  // An idle keep-alive connection after `keepAliveTimeout`.
  server.on('timeout', (socket) => {
    const connection = getConnection(socket);
    if (connection === undefined) return socket.destroy();
    monitor.end(connection, () => socket.destroy());
  });
  return { listUse: () => budget.listUse(), stop: () => monitor.stop() };
}

function admitConnection(connection: ClientConnection, provisional: ProvisionalConnections): void {
  const releaseSlot = connection.budget.acquireGeneral(connection.address);
  if (releaseSlot === null) provisional.begin(connection);
  else connection.assignSlot(releaseSlot);
}

/** Whether a peer is a proxy by `TRUST_PROXY`, as Express compiles it: with a number of hops every peer is. */
function createProxyCheck(trustProxy: number | readonly string[] = 0): (remoteAddress: string) => boolean {
  const app = express().set('trust proxy', trustProxy);
  const trusts = app.get('trust proxy fn') as (address: string, hop: number) => boolean;
  return (remoteAddress) => remoteAddress !== '' && trusts(remoteAddress, 0);
}
