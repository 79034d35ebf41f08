import type { Readable, Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import type { McpServer } from '@modelcontextprotocol/server';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import { completeErrors } from './guided-messages.ts';
import { messageLines } from './stdio-lines.ts';

export interface StdioOptions {
  input: Readable;
  /** Carries messages of the protocol, and nothing else. */
  output: Writable;
  /** Hears of what failed without being told to the client. */
  onError(error: unknown): void;
}

export interface StdioServer {
  /** Resolves when the client has gone: its end of either pipe is closed. */
  gone: Promise<void>;
  close(): Promise<void>;
}

/** Serves one client over two streams, one message a line. */
export function serveOverStdio(build: () => McpServer, { input, output, onError }: StdioOptions): StdioServer {
  const lines = messageLines((refused) => output.write(`${JSON.stringify(refused)}\n`));
  const handle = serveStdio(build, { transport: completeErrors(new StdioServerTransport(lines, output)), onerror: onError });
  const gone = Promise.race([finished(input, { writable: false }), broken(output)]).then(
    () => {},
    () => {},
  );
  input.pipe(lines);
  return { gone, close: () => handle.close() };
}

function broken(output: Writable): Promise<void> {
  return new Promise((resolve) => output.on('error', () => resolve()));
}
