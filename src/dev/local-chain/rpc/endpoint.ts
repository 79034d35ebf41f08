import { randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, STATUS_CODES } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import { respondHttp } from './http-endpoint.ts';
import { connectNode } from './node-socket.ts';
import { isPublicMethod, type RpcTransport } from './public-methods.ts';
import { findOriginRejection, MAX_BODY_BYTES, type RequestRejection } from './request-check.ts';
import { serveRpcWebSocket } from './websocket-endpoint.ts';

export interface RpcEndpoint {
  /** For all programs on this machine: reads and signed transactions. */
  publicUrl: string;
  /** For the owner of the chain: all methods. Its path is a secret; requests of browser pages are rejected here too. */
  ownerUrl: string;
  close(): Promise<void>;
}

/** Serves JSON-RPC over HTTP and WebSocket on 127.0.0.1, in front of a node on a Unix domain socket. @param port 0: any free port */
export async function serveRpcEndpoint(nodePath: string, port: number): Promise<RpcEndpoint> {
  const ownerPath = `/${randomBytes(32).toString('hex')}`;
  const node = connectNode({ path: nodePath });
  const sockets = new WebSocketServer({ noServer: true, maxPayload: MAX_BODY_BYTES, perMessageDeflate: false });
  const methodCheck = ({ url = '' }: IncomingMessage, transport: RpcTransport) =>
    isEqual(url, ownerPath) ? () => true : (method: string) => isPublicMethod(method, transport);

  const server = createServer((request, response) => {
    void respondHttp({ request, response, node, isAllowed: methodCheck(request, 'http') });
  });
  server.on('upgrade', (request, socket, head) => {
    socket.on('error', () => socket.destroy());
    const rejection = findOriginRejection(request.headers, (server.address() as AddressInfo).port);
    if (rejection !== null) return rejectUpgrade(socket, rejection);
    sockets.handleUpgrade(request, socket, head, (client) => serveRpcWebSocket(client, nodePath, methodCheck(request, 'websocket')));
  });
  await new Promise<void>((listening, failed) => server.once('error', failed).listen(port, '127.0.0.1', listening));

  const publicUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    publicUrl,
    ownerUrl: publicUrl + ownerPath,
    close: async () => {
      for (const client of sockets.clients) client.terminate();
      const closed = new Promise((done) => server.close(done));
      server.closeAllConnections();
      node.close();
      await closed;
    },
  };
}

function isEqual(given: string, secret: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(secret)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function rejectUpgrade(socket: Duplex, { status, message }: RequestRejection): void {
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\nContent-Type: text/plain\r\n`;
  socket.end(`${head}Content-Length: ${Buffer.byteLength(message)}\r\n\r\n${message}`);
}
