import { createServer, type IncomingHttpHeaders, type RequestListener, type Server } from 'node:http';
import type { AddressInfo, Server as NetServer, Socket } from 'node:net';

export interface Received {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
}

export interface Receiver {
  /** Without a slash at the end. */
  url: string;
  port: number;
  /** What came in, in order. */
  received: readonly Received[];
  /** Resolves as soon as so many requests have come in altogether. */
  until(count: number): Promise<readonly Received[]>;
  close(): Promise<void>;
}

/** A callback on this machine that notes every request and answers with the statuses given, in order, the last one for ever. */
export async function startReceiver(...statuses: readonly [number, ...number[]]): Promise<Receiver> {
  const received: Received[] = [];
  const waiting: { count: number; done(): void }[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (chunk: string) => {
      body += chunk;
    });
    request.on('end', () => {
      received.push({ method: request.method!, path: request.url!, headers: request.headers, body });
      response.writeHead(statuses[received.length - 1] ?? statuses.at(-1)!).end();
      for (const { done } of waiting.filter(({ count }) => received.length >= count)) done();
    });
  });
  const { port, close } = await listening(server);
  const until = async (count: number) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    waiting.push({ count, done: resolve });
    if (received.length < count) await promise;
    return received;
  };
  return { url: `http://127.0.0.1:${port}`, port, received, until, close };
}

/** Any server on a free port of this machine; its connections end with it. */
export async function listening(server: Server | NetServer, host = '127.0.0.1'): Promise<{ port: number; close(): Promise<void> }> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((done, fail) => server.once('error', fail).listen(0, host, done));
  const close = () =>
    new Promise<void>((done) => {
      server.close(() => done());
      for (const socket of sockets) socket.destroy();
    });
  return { port: (server.address() as AddressInfo).port, close };
}

/** A server that answers by a function of its own. */
export function answering(listener: RequestListener, host?: string): Promise<{ port: number; close(): Promise<void> }> {
  return listening(createServer(listener), host);
}
