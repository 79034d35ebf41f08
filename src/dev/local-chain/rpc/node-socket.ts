import { getErrorMessage, OracleError } from '../../../platform/errors.ts';
import { connectUnixSocket } from '../../../platform/outbound/unix-socket.ts';

export interface NodeResponse {
  result?: unknown;
  error?: { code: number; message: string; data?: unknown };
}

export interface NodeSocketOptions {
  /** The node's Unix domain socket. */
  path: string;
  /** Receives each subscription notification verbatim, after earlier responses. */
  onNotification?(line: string): void;
  onClose?(): void;
}

/** A connection to the node. Calls run concurrently; the process stays alive only while a call is pending. */
export interface NodeSocket {
  /** @throws OracleError CHAIN_UNREACHABLE if the connection closes before the response */
  call(method: string, params?: unknown): Promise<NodeResponse>;
  close(): void;
}

/** Connects to anvil's IPC endpoint, which terminates each JSON value by a newline. */
export function connectNode({ path, onNotification = () => {}, onClose = () => {} }: NodeSocketOptions): NodeSocket {
  const waiting = new Map<number, PromiseWithResolvers<NodeResponse>>();
  let lastId = 0;
  let reason = 'the connection has ended';
  const socket = connectUnixSocket(path).setEncoding('utf8').unref();
  socket.on(
    'data',
    readLines((line) => receive(JSON.parse(line), line)),
  );
  socket.on('error', (error) => {
    reason = getErrorMessage(error);
  });
  socket.once('close', () => {
    for (const { reject } of waiting.values()) reject(nodeUnreachableError(reason));
    waiting.clear();
    onClose();
  });

  function receive(message: NodeResponse & { id?: number | null }, line: string): void {
    const call = typeof message.id === 'number' ? waiting.get(message.id) : undefined;
    // Responses resolve through promises: a later notification in the same chunk must not overtake them.
    if (call === undefined) return void setImmediate(onNotification, line);
    waiting.delete(message.id as number);
    if (waiting.size === 0) socket.unref();
    call.resolve('error' in message ? { error: message.error } : { result: message.result });
  }

  return {
    call: (method, params = []) => {
      if (socket.destroyed) return Promise.reject(nodeUnreachableError(reason));
      lastId += 1;
      const call = Promise.withResolvers<NodeResponse>();
      waiting.set(lastId, call);
      socket.ref().write(JSON.stringify({ jsonrpc: '2.0', id: lastId, method, params }));
      return call.promise;
    },
    close: () => void socket.destroy(),
  };
}

function readLines(onLine: (line: string) => void): (text: string) => void {
  let begun: string[] = [];
  return (text) => {
    const [first = '', ...rest] = text.split('\n');
    begun.push(first);
    for (const next of rest) {
      onLine(begun.join(''));
      begun = [next];
    }
  };
}

function nodeUnreachableError(reason: string): OracleError {
  return new OracleError('CHAIN_UNREACHABLE', `The local chain does not answer: ${reason}`);
}
