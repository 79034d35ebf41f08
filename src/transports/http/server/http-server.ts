import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerOptions,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { OracleError } from '../../../platform/errors.ts';
import { toProblemDetails } from './problems/problem.ts';
import type { ShareUse } from './sockets/connection-budget.ts';
import { answerHandshake, isHandshake } from './sockets/handshakes.ts';
import { createListeners, type Listeners } from './sockets/listeners.ts';
import { beginByTurns, queuePerSocket } from './sockets/request-queue.ts';
import { type SocketLimits, watchSockets } from './sockets/watch-sockets.ts';

const GRACE_MS = 3_000;

export interface Timeouts {
  headersMs: number;
  requestMs: number;
  /** For a client that reads nothing of its response. */
  stalledMs: number;
}

/** Bound the time that a slow client occupies a socket. */
const TIMEOUTS: Timeouts = { headersMs: 10_000, requestMs: 30_000, stalledMs: 30_000 };

export interface ListenOptions {
  /** Aborted at shutdown: later responses close their connections. */
  stopping?: AbortSignal;
  timeouts?: Partial<Timeouts>;
  limits?: SocketLimits;
}

export interface HttpServer {
  /** The bound port, also where 0 was requested; once it listens. */
  readonly port: number;
  /** @throws OracleError CONFIG_INVALID naming PORT or HOST where the address cannot be bound */
  listen(port: number, host: string): Promise<void>;
  serve(app: RequestListener): void;
  /** Routes WebSocket handshakes to an app; until then the initial app answers them. */
  serveHandshakes(app: RequestListener): void;
  /** Use of the shares of connections. */
  listUse(): ShareUse[];
  /** Closes the listener, and nothing else. Idempotent. */
  stopAccepting(): void;
  /** Stops accepting and drains pending requests. Idempotent. */
  close(): Promise<void>;
}

/** @throws OracleError CONFIG_INVALID naming PORT or HOST where the address cannot be bound */
export async function listen(app: RequestListener, port: number, host: string, options: ListenOptions = {}): Promise<HttpServer> {
  const server = createHttpServer(app, options);
  await server.listen(port, host);
  return server;
}

/** A server that does not listen yet. */
export function createHttpServer(app: RequestListener, options: ListenOptions = {}): HttpServer {
  let current = app;
  let handshakes = app;
  let closing: Promise<void> | undefined;
  let closed: Promise<void> | undefined;
  const timeouts = { ...TIMEOUTS, ...options.timeouts };
  const server = createServer(
    buildServerOptions(timeouts),
    queuePerSocket(beginByTurns((request, response) => current(request, response))),
  );
  server.on('clientError', answerClientError);
  const pendingResponses = trackResponses(server, options.stopping);
  const watched = watchSockets(server, { ...options.limits, stalledMs: timeouts.stalledMs });
  const listeners = createListeners(server);
  const stopAccepting = () => (closed ??= listeners.close().then(watched.stop));
  const sockets = new Set<Duplex>();
  server.on('upgrade', (request, socket, head) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    answerHandshake(handshakes, { request, socket, head });
  });
  return {
    get port() {
      return (server.address() as AddressInfo).port;
    },
    listen: (port, host) => startListening(listeners, port, host),
    serve: (next) => {
      current = next;
    },
    serveHandshakes: (next) => {
      handshakes = next;
    },
    listUse: watched.listUse,
    stopAccepting: () => void stopAccepting(),
    close: () => (closing ??= closeServer(server, { stopAccepting, pendingResponses, sockets })),
  };
}

function buildServerOptions({ headersMs, requestMs }: Timeouts): ServerOptions {
  return {
    headersTimeout: headersMs,
    requestTimeout: requestMs,
    connectionsCheckingInterval: Math.min(headersMs, 5_000) / 2,
    maxHeaderSize: 16_384,
    // Other upgrades, such as h2c, are ignored, and the request is answered over HTTP/1.1.
    shouldUpgradeCallback: isHandshake,
  };
}

function trackResponses(server: Server, stopping?: AbortSignal): Set<ServerResponse> {
  const pendingResponses = new Set<ServerResponse>();
  server.prependListener('request', (_request: IncomingMessage, response: ServerResponse) => {
    pendingResponses.add(response);
    response.once('close', () => pendingResponses.delete(response));
    if (stopping?.aborted) announceClose(response);
  });
  stopping?.addEventListener('abort', () => pendingResponses.forEach(announceClose), { once: true });
  return pendingResponses;
}

function announceClose(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader('Connection', 'close');
}

async function startListening(listeners: Listeners, port: number, host: string): Promise<void> {
  try {
    await listeners.listen(port, host);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    const field = code === 'EADDRINUSE' || code === 'EACCES' ? 'PORT' : 'HOST';
    const suggestedAction =
      field === 'PORT' ? 'Set PORT to a free port, e.g. PORT=3001 npm start' : 'Set HOST to an address of this machine.';
    const message = `Setting ${field}: cannot listen on ${host}:${port} (${code})`;
    throw new OracleError('CONFIG_INVALID', message, { field, suggestedAction, cause });
  }
}

/** Drains pending requests for a grace period, so that a client that never completes its request cannot block the shutdown. */
async function closeServer(server: Server, { stopAccepting, pendingResponses, sockets }: ServerParts): Promise<void> {
  const timer = setTimeout(() => {
    server.closeAllConnections();
    for (const socket of sockets) socket.destroy();
  }, GRACE_MS);
  pendingResponses.forEach(announceClose);
  const closed = stopAccepting();
  server.closeIdleConnections();
  await closed;
  clearTimeout(timer);
}

interface ServerParts {
  /** Resolves once the last connection has ended. */
  stopAccepting(): Promise<void>;
  pendingResponses: ReadonlySet<ServerResponse>;
  sockets: ReadonlySet<Duplex>;
}

/** Answers a request that the HTTP parser rejects, on the raw socket, and closes the connection. */
function answerClientError({ code }: NodeJS.ErrnoException, socket: Duplex): void {
  // The client is gone, or a response is half written.
  if (code === 'ECONNRESET' || !socket.writable || ('bytesWritten' in socket && socket.bytesWritten !== 0)) return void socket.destroy();
  const { status, error } = toClientFault(code);
  const body = JSON.stringify({ ...toProblemDetails(error, ''), status, title: STATUS_CODES[status] });
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Content-Type: application/problem+json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Cache-Control: no-store',
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}

function toClientFault(code: string | undefined): { status: number; error: OracleError } {
  if (code === 'HPE_HEADER_OVERFLOW')
    return { status: 431, error: new OracleError('PAYLOAD_TOO_LARGE', 'The request headers are too large') };
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return { status: 408, error: new OracleError('INPUT_INVALID', 'The request was not complete in time') };
  return { status: 400, error: new OracleError('INPUT_INVALID', 'Not an HTTP/1.1 request') };
}
