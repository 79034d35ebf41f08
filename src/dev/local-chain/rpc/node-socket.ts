import { getErrorMessage, OracleError } from '../../../platform/errors.ts';
import { connectUnixSocket } from '../../../platform/outbound/unix-socket.ts';

export interface NodeResponse {
  result?: unknown;
  error?: { code: number; message: string; data?: unknown };
}

type NodeMessage = NodeResponse & { id?: number | null };

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
  /** Many calls in one message; responses in their order. Errors as `call`. */
  batch(calls: readonly (readonly [method: string, params: unknown])[]): Promise<NodeResponse[]>;
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
    readLines((line) => {
      const message = JSON.parse(line) as NodeMessage | NodeMessage[];
      for (const one of Array.isArray(message) ? message : [message]) receive(one, line);
    }),
  );
  socket.on('error', (error) => {
    reason = getErrorMessage(error);
  });
  socket.once('close', () => {
    for (const { reject } of waiting.values()) reject(nodeUnreachableError(reason));
    waiting.clear();
    onClose();
  });

  function receive(message: NodeMessage, line: string): void {
    const call = typeof message.id === 'number' ? waiting.get(message.id) : undefined;
    // Responses resolve through promises: a later notification in the same chunk must not overtake them.
    if (call === undefined) return void setImmediate(onNotification, line);
    waiting.delete(message.id as number);
    if (waiting.size === 0) socket.unref();
    call.resolve('error' in message ? { error: message.error } : { result: message.result });
  }

  function expectResponse(method: string, params: unknown): { request: object; response: Promise<NodeResponse> } {
    lastId += 1;
    const call = Promise.withResolvers<NodeResponse>();
    waiting.set(lastId, call);
    return { request: { jsonrpc: '2.0', id: lastId, method, params }, response: call.promise };
  }

  return {
    call: (method, params = []) => {
      if (socket.destroyed) return Promise.reject(nodeUnreachableError(reason));
      const { request, response } = expectResponse(method, params);
      socket.ref().write(JSON.stringify(request));
      return response;
    },
    batch: (calls) => {
      if (socket.destroyed) return Promise.reject(nodeUnreachableError(reason));
      const expected = calls.map(([method, params]) => expectResponse(method, params));
      socket.ref().write(JSON.stringify(expected.map(({ request }) => request)));
      return Promise.all(expected.map(({ response }) => response));
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
