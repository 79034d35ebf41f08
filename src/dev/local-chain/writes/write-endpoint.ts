import { createServer } from 'node:net';
import { createJsonSplitter } from '../rpc/json-splitter.ts';
import type { NodeResponse } from '../rpc/node-socket.ts';
import type { ChainWriter } from './chain-writer.ts';

interface WriteRequest {
  id: number;
  method: string;
  params?: unknown;
}

const INTERNAL = -32_603;

export interface WriteEndpoint {
  close(): void;
}

/** Serves the writer on a Unix domain socket, in the protocol of anvil's own. Its folder decides which users can connect. */
export async function serveWrites(path: string, writer: Pick<ChainWriter, 'call'>): Promise<WriteEndpoint> {
  const server = createServer((socket) => {
    const split = createJsonSplitter(async (text) => {
      const { id, method, params } = JSON.parse(text) as WriteRequest;
      const response = await writer.call(method, params).catch(toErrorResponse);
      if (!socket.destroyed) socket.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...response })}\n`);
    });
    socket.setEncoding('utf8').on('data', split);
    socket.on('error', () => socket.destroy());
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  const sockets = new Set<{ destroy(): void }>();
  await new Promise<void>((listening, failed) => server.once('error', failed).listen(path, listening));
  return {
    close: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

function toErrorResponse(error: Error): NodeResponse {
  return { error: { code: INTERNAL, message: error.message } };
}
