import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerOptions, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { OracleError } from '../../../platform/errors.ts';
import { answerClientError } from './problems/client-error.ts';
import { answerHandshake, isHandshake } from './sockets/handshakes.ts';
import { queuePerSocket } from './sockets/request-queue.ts';
import { type SocketLimits, watchSockets } from './sockets/watch-sockets.ts';

const GRACE_MS = 3_000;

/** A client that sends slowly holds a socket for so long, and no longer. */
const TIMEOUTS: Timeouts = { headersMs: 10_000, requestMs: 30_000, stalledMs: 30_000 };

export interface Timeouts {
  /** For the head of a request. */
  headersMs: number;
  /** For all of a request, its body included. */
  requestMs: number;
  /** For a client that takes nothing of what is sent to it. */
  stalledMs: number;
}

export interface ListenOptions {
  /** Aborted when the service stops: answers from then on close their connections. */
  stopping?: AbortSignal;
  timeouts?: Partial<Timeouts>;
  /** How many connections and unsent bytes clients may have. */
  limits?: SocketLimits;
}

export interface HttpServer {
  /** The port that is listened on, also when a free one was asked for. */
  port: number;
  /** Hands all further requests to another app. */
  serve(app: RequestListener): void;
  /** Hands the handshakes of WebSockets to an app of their own; before that they are answered by the app that listening began with. */
  serveHandshakes(app: RequestListener): void;
  /** Stops taking requests and waits for those under way; later calls wait for the same end. */
  close(): Promise<void>;
}

/**
 * Listens on an address.
 * @throws OracleError CONFIG_INVALID naming PORT or HOST when the address cannot be used.
 */
export async function listen(app: RequestListener, port: number, host: string, options: ListenOptions = {}): Promise<HttpServer> {
  let current = app;
  let handshakes = app;
  let closing: Promise<void> | undefined;
  const timeouts = { ...TIMEOUTS, ...options.timeouts };
  const server = createServer(
    buildServerOptions(timeouts),
    queuePerSocket((request, response) => current(request, response)),
  );
  server.on('clientError', answerClientError);
  const pendingResponses = trackResponses(server, options.stopping);
  const stopWatching = watchSockets(server, { ...options.limits, stalledMs: timeouts.stalledMs });
  server.once('close', stopWatching);
  const sockets = new Set<Duplex>();
  server.on('upgrade', (request, socket, head) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    answerHandshake(handshakes, { request, socket, head });
  });
  await startListening(server, port, host);
  return {
    port: (server.address() as AddressInfo).port,
    serve: (next) => {
      current = next;
    },
    serveHandshakes: (next) => {
      handshakes = next;
    },
    close: () => (closing ??= closeServer(server, { underWay: pendingResponses, sockets })),
  };
}

function buildServerOptions({ headersMs, requestMs }: Timeouts): ServerOptions {
  return {
    headersTimeout: headersMs,
    requestTimeout: requestMs,
    connectionsCheckingInterval: Math.min(headersMs, 5_000) / 2,
    maxHeaderSize: 16_384,
    // Clients offer other protocols beside HTTP/1.1, such as h2c, and are answered in that.
    shouldUpgradeCallback: isHandshake,
  };
}

/** Answers under way. From the stop on each tells its client that the connection ends with it. */
function trackResponses(server: Server, stopping?: AbortSignal): Set<ServerResponse> {
  const pendingResponses = new Set<ServerResponse>();
  const dismiss = (response: ServerResponse) => !response.headersSent && response.setHeader('Connection', 'close');
  server.prependListener('request', (_request: IncomingMessage, response: ServerResponse) => {
    pendingResponses.add(response);
    response.once('close', () => pendingResponses.delete(response));
    if (stopping?.aborted) dismiss(response);
  });
  stopping?.addEventListener('abort', () => pendingResponses.forEach(dismiss), { once: true });
  return pendingResponses;
}

function startListening(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const field = error.code === 'EADDRINUSE' || error.code === 'EACCES' ? 'PORT' : 'HOST';
      const suggestedAction =
        field === 'PORT' ? 'Set PORT to one that is free, e.g. PORT=3001 npm start' : 'Set HOST to an address of this machine.';
      reject(
        new OracleError('CONFIG_INVALID', `Setting ${field}: cannot listen on ${host}:${port} (${error.code})`, {
          field,
          suggestedAction,
          cause: error,
        }),
      );
    });
    server.listen(port, host, resolve);
  });
}

/** Requests under way get a moment; a client that never finishes its own does not hold up the end. */
async function closeServer(
  server: Server,
  { underWay: pendingResponses, sockets }: { underWay: ReadonlySet<ServerResponse>; sockets: ReadonlySet<Duplex> },
): Promise<void> {
  const timer = setTimeout(() => {
    server.closeAllConnections();
    for (const socket of sockets) socket.destroy();
  }, GRACE_MS);
  for (const response of pendingResponses) if (!response.headersSent) response.setHeader('Connection', 'close');
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
    server.closeIdleConnections();
  });
  clearTimeout(timer);
}
