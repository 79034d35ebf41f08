import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { promisify } from 'node:util';
import { serveWebSocket } from '../../../src/app/events.ts';
import type { RequestContext } from '../../../src/auth/auth.ts';
import { type Caller, PUBLIC_CALLER } from '../../../src/auth/caller.ts';
import type { Reply } from '../../../src/http/replies.ts';
import type { Route } from '../../../src/http/route.ts';
import { allRoutes } from '../../../src/http/routes.ts';
import { createListener, type ListenOptions, listen } from '../../../src/http/server.ts';
import type { TestService } from '../service/service.ts';

/** A port that no process listens on now. */
export async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await promisify(server.close.bind(server))();
  return port;
}

export interface Served {
  url: string;
  close(): Promise<void>;
}

/** All routes and adapters of a service and its WebSocket, or the routes given, on a free port. */
export async function serve(
  {
    http,
    appOptions: door,
    adapters: doors,
    websocket,
  }: Pick<TestService, 'http' | 'appOptions'> & Partial<Pick<TestService, 'adapters' | 'websocket'>>,
  routes: readonly Route[] = allRoutes(http),
): Promise<Served> {
  return serveApp(createListener(routes, door, doors), websocket === undefined ? {} : { sockets: { websocket, appOptions: door } });
}

interface ServeOptions {
  /** 0: a free one. */
  port?: number;
  /** Unset: no WebSocket is opened there. */
  sockets?: Pick<TestService, 'websocket' | 'appOptions'>;
  /** Timeouts and limits of sockets; unset: those of the service. */
  listening?: ListenOptions;
}

export async function serveApp(
  app: RequestListener,
  { port = 0, sockets, listening }: ServeOptions = {},
): Promise<Served & { port: number }> {
  const server = await listen(sockets === undefined ? app : answerUnavailable, port, '127.0.0.1', listening);
  const end = sockets === undefined ? async () => undefined : (await serveWebSocket(server, sockets)).close;
  server.serve(app);
  const close = async () => {
    await end();
    await server.close();
  };
  return { url: `http://127.0.0.1:${server.port}`, port: server.port, close };
}

/** As the service answers until its WebSocket is served. */
const answerUnavailable: RequestListener = (_request, response) => void response.writeHead(503, { 'Retry-After': '1' }).end();

/** Who asks without a socket, and is not counted. */
export function createTestContext(caller: Caller): RequestContext {
  const uncounted = async () => undefined;
  const nothing = () => undefined;
  const payments = { beginPayment: nothing, requirePaymentRoom: nothing, hasPaymentRoom: () => true, countRejectedPayment: uncounted };
  const counts = { countCall: uncounted, countChainCall: uncounted, countTask: uncounted };
  return {
    caller,
    ...NOBODY,
    run: async (work) => work(),
    suspend: (waiting) => waiting(),
    detach: nothing,
    reserveAnswer: uncounted,
    ...counts,
    ...payments,
  };
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
    context: createTestContext(caller),
    accept,
    source: NOBODY,
    header: (name: string) => headers[name],
    isHead: false,
  };
  // biome-ignore lint/suspicious/noExplicitAny: bodies are what is tested
  return (await route.handle(input)) as Reply<any> & { body: any };
}
