import type { Readable, Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import type { McpServer } from '@modelcontextprotocol/server';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import { completeSentErrors } from '../errors/transport-errors.ts';
import { createLineFilter } from './lines.ts';

export interface StdioOptions {
  input: Readable;
  /** Carries messages of the protocol, and nothing else. */
  output: Writable;
  /** Hears of what failed without being told to the client. */
  onError(error: unknown): void;
}

export interface StdioServer {
  /** Resolves when the client has gone: its end of either pipe is closed. */
  disconnected: Promise<void>;
  close(): Promise<void>;
}

/** Serves one client over two streams, one message a line. */
export function serveOverStdio(build: () => McpServer, { input, output, onError }: StdioOptions): StdioServer {
  const lines = createLineFilter((rejected) => output.write(`${JSON.stringify(rejected)}\n`));
  const handle = serveStdio(build, { transport: completeSentErrors(new StdioServerTransport(lines, output)), onerror: onError });
  const disconnected = Promise.race([finished(input, { writable: false }), waitForBrokenPipe(output)]).then(
    () => {},
    () => {},
  );
  input.pipe(lines);
  return { disconnected, close: () => handle.close() };
}

function waitForBrokenPipe(output: Writable): Promise<void> {
  return new Promise((resolve) => output.on('error', () => resolve()));
}
