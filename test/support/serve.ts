import type { Express } from 'express';
import type { Asker } from '../../src/access/asker.ts';
import { serveWebSocket } from '../../src/compose/websocket.ts';
import { createApp } from '../../src/http/app.ts';
import type { Reply, Route } from '../../src/http/route.ts';
import { allRoutes } from '../../src/http/routes/all.ts';
import { type ListenOptions, listen } from '../../src/http/server.ts';
import { type Caller, PUBLIC_CALLER } from '../../src/record/caller.ts';
import type { TestService } from './service.ts';

export interface Served {
  url: string;
  close(): Promise<void>;
}

/** All routes and doors of a service and its WebSocket, or the routes given, on a free port. */
export async function serve(
  { http, door, doors, websocket }: Pick<TestService, 'http' | 'door'> & Partial<Pick<TestService, 'doors' | 'websocket'>>,
  routes: readonly Route[] = allRoutes(http),
): Promise<Served> {
  return serveApp(createApp(routes, door, doors), websocket === undefined ? {} : { sockets: { websocket, door } });
}

interface ServeOptions {
  /** 0: a free one. */
  port?: number;
  /** Unset: no WebSocket is opened there. */
  sockets?: Pick<TestService, 'websocket' | 'door'>;
  /** Timeouts and limits of sockets; unset: those of the service. */
  listening?: ListenOptions;
}

export async function serveApp(app: Express, { port = 0, sockets, listening }: ServeOptions = {}): Promise<Served & { port: number }> {
  const server = await listen(app, port, '127.0.0.1', listening);
  const end = sockets === undefined ? async () => undefined : await serveWebSocket(server, sockets);
  const close = async () => {
    await end();
    await server.close();
  };
  return { url: `http://127.0.0.1:${server.port}`, port: server.port, close };
}

/** Who asks without a socket, and is not counted. */
export function askerOf(caller: Caller): Asker {
  const uncounted = async () => undefined;
  const payments = { requirePaymentRoom: () => undefined, countRejectedPayment: uncounted };
  return { caller, ...NOBODY, countCall: uncounted, countChainCall: uncounted, countTask: uncounted, ...payments };
}

const NOBODY = { requestId: 'none', address: 'unknown' };

interface Input {
  params?: Record<string, unknown>;
  query?: Record<string, unknown>;
  body?: Record<string, unknown>;
  caller?: Caller;
  accept?: string;
  headers?: Record<string, string>;
}

/** What a route answers to parsed input, without a socket. */
export async function call(
  route: Route,
  { params = {}, query = {}, body = {}, caller = PUBLIC_CALLER, accept = '', headers = {} }: Input = {},
) {
  const input = {
    params,
    query,
    body,
    json: body,
    caller,
    asker: askerOf(caller),
    accept,
    origin: NOBODY,
    header: (name: string) => headers[name],
    isHead: false,
  };
  // biome-ignore lint/suspicious/noExplicitAny: bodies are what is tested
  return (await route.handle(input)) as Reply<any> & { body: any };
}
