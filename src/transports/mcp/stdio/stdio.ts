import type { Readable, Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import type { McpServer } from '@modelcontextprotocol/server';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import { createLineFilter } from './lines.ts';

export interface StdioOptions {
  input: Readable;
  /** Carries protocol messages only. */
  output: Writable;
  /** Logs errors of the transport, which the client does not receive. */
  onError(error: unknown): void;
}

export interface StdioServer {
  /** Resolves when the client has closed its end of either pipe. */
  disconnected: Promise<void>;
  close(): Promise<void>;
}

export function serveOverStdio(build: () => McpServer, { input, output, onError }: StdioOptions): StdioServer {
  const lines = createLineFilter((rejection) => output.write(`${JSON.stringify(rejection)}\n`));
  const handle = serveStdio(build, { transport: new StdioServerTransport(lines, output), onerror: onError });
  const brokenPipe = new Promise<void>((resolve) => output.on('error', () => resolve()));
  const disconnected = Promise.race([finished(input, { writable: false }), brokenPipe]).then(
    () => {},
    () => {},
  );
  input.pipe(lines);
  return { disconnected, close: () => handle.close() };
}
