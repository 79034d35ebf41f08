import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { constants } from 'node:zlib';
import compression from 'compression';
import cors, { type CorsOptions } from 'cors';
import express, { type Express, type Request, type RequestHandler } from 'express';
import helmet from 'helmet';
import type { ProtocolAdapter } from '../adapter.ts';
import { OAUTH_PATHS } from '../auth/oauth-clients.ts';
import { type ErrorCode, OracleError, toClientError } from '../errors.ts';
import type { Log } from '../platform/log.ts';
import type { StartupProgress } from '../platform/progress.ts';
import { createConnectionGate } from './admission.ts';
import { type Admit, createAdmission, createBodyReader, createGuard, type Guard, MAX_URL_CHARS, mountRoutes } from './guard.ts';
import { AnswerMemo, createMemoListener } from './memo.ts';
import { buildNotFoundError, createProblemHandler, PAYMENT_REQUIRED_HEADER, SETTLEMENT_HEADERS, toProblemDetails } from './problems.ts';
import { MIN_COMPRESSED_BYTES, QUICK_BROTLI_QUALITY } from './replies.ts';
import { type AppOptions, getClientAddress, isCompressible, PAYMENT_HEADERS, requestLog } from './request.ts';
import type { Route } from './route.ts';
import { iconRoute } from './routes/agent-card.ts';
import { startingRoutes } from './routes/health.ts';
import { pageFileRoutes, startingRootRoutes } from './routes/home.ts';
import {
  answerHandshake,
  createListeners,
  isHandshake,
  type Listeners,
  type ShareUse,
  type SocketLimits,
  watchSockets,
} from './sockets.ts';

/** The HTTP server with the protocol adapters beside its routes; every error is a problem document. */
export function createApp(
  routes: readonly Route[],
  options: AppOptions,
  adapters: readonly ProtocolAdapter[] = [],
  memo = createMemo(options),
): Express {
  const operatorArea = (guard: Guard) => createAdminArea(guard, options.adminPage);
  return buildApp(routes, { adapters, fallbackError: buildNotFoundError, operatorArea, memo }, options);
}

function createMemo({ reusesAnswers, readState = () => '' }: AppOptions): AnswerMemo | null {
  return reusesAnswers === true ? new AnswerMemo({ readState }) : null;
}

/** Serves the admin page to the operator; other clients cannot probe which paths exist. */
function createAdminArea(guard: Guard, page: RequestHandler | undefined): RequestHandler[] {
  const admit: RequestHandler = async (request, response, next) => {
    await guard({ access: 'admin', cost: 'normal' }, request, response, () => response.vary('Authorization'));
    next();
  };
  const rejectUnknownPath: RequestHandler = () => {
    throw buildNotFoundError();
  };
  return page === undefined ? [admit, rejectUnknownPath] : [admit, page, rejectUnknownPath];
}

/** The same server behind the bytes that it may send again. */
export function createListener(routes: readonly Route[], options: AppOptions, adapters: readonly ProtocolAdapter[] = []): RequestListener {
  const memo = createMemo(options);
  const app = createApp(routes, options, adapters, memo);
  if (memo === null) return app;
  // Express gives requests their address in the same way, but only once it handles them.
  const getForwardedAddress = (request: IncomingMessage) => getClientAddress(Object.setPrototypeOf(request, app.request) as Request);
  return createMemoListener(memo, { ...options, getForwardedAddress }, app);
}

/** Answers WebSocket handshakes on one path and rejects them elsewhere. */
export function createHandshakeApp(endpoint: { path: string; handler: RequestHandler }, options: AppOptions): Express {
  return buildApp([], { handshakes: endpoint, fallbackError: buildNotFoundError }, options);
}

/** Serves liveness, startup progress and the page until the service is assembled. */
export function createStartingApp({
  publicUrl,
  setup,
  ...options
}: Pick<AppOptions, 'log' | 'stopping'> & { publicUrl: string; setup: Pick<StartupProgress, 'current'> }): Express {
  const starting = () => new OracleError('STEP_WAITING', 'The service is starting');
  const routes = [...startingRoutes(() => setup.current), ...startingRootRoutes(publicUrl), ...pageFileRoutes(), iconRoute()];
  const rejectWrites: RequestHandler = ({ method }, _response, next) => {
    if (method !== 'GET' && method !== 'HEAD') throw starting();
    next();
  };
  return buildApp(routes, { first: rejectWrites, fallbackError: starting }, { ...options, identify: () => Promise.reject(starting()) });
}

interface AppExtras {
  /** Before adapters and routes. */
  first?: RequestHandler;
  adapters?: readonly ProtocolAdapter[];
  handshakes?: { path: string; handler: RequestHandler };
  operatorArea?(guard: Guard): RequestHandler[];
  memo?: AnswerMemo | null;
  fallbackError(path: string): OracleError;
}

const ADMIN_PATH = '/admin';

function buildApp(
  routes: readonly Route[],
  { first, adapters = [], handshakes, operatorArea, memo = null, fallbackError }: AppExtras,
  options: AppOptions,
): Express {
  const app = express();
  const guard = createGuard(options);
  app.disable('x-powered-by');
  app.set('query parser', 'simple');
  app.set('trust proxy', options.trustProxy ?? 0);
  app.use(requestLog(options), warnOfUntrustedProxy(options.log, options.trustProxy), defaultHeaders(), crossOrigin());
  app.use(createConnectionGate(options), rejectWhenStopping(options.stopping), limitUrlLength(), compressPublicReplies());
  if (first !== undefined) app.use(first);
  mountAdapters(app, adapters, { admit: createAdmission(options), log: options.log });
  mountRoutes(app, routes, guard, memo);
  if (handshakes !== undefined) app.route(handshakes.path).all(handshakes.handler);
  if (operatorArea !== undefined) app.use(ADMIN_PATH, operatorArea(guard));
  const guardUnmatched = createGuard({ ...options, isStale: undefined });
  app.use(async (request, response) => {
    await guardUnmatched({ access: 'public', cost: 'normal' }, request, response, () => Promise.reject(fallbackError(request.path)));
  });
  app.use(createProblemHandler(options.log));
  return app;
}

/** @throws OracleError URL_TOO_LONG */
function limitUrlLength(): RequestHandler {
  return (request, _response, next) => {
    if (request.originalUrl.length <= MAX_URL_CHARS) return next();
    const suggestedAction = 'Send long values in the body of an operation that takes one.';
    throw new OracleError('URL_TOO_LONG', `The URL has more than ${MAX_URL_CHARS} characters`, { suggestedAction });
  };
}

/** Behind an untrusted proxy all clients share one address and its rate limit: warns the operator once. */
function warnOfUntrustedProxy(log: Log, trustProxy: AppOptions['trustProxy'] = 0): RequestHandler {
  let hasWarned = trustProxy !== 0;
  return (request, _response, next) => {
    if (!hasWarned && request.get('X-Forwarded-For') !== undefined) {
      hasWarned = true;
      log.warn('X-Forwarded-For is present but not trusted: behind a proxy, set TRUST_PROXY');
    }
    next();
  };
}

function rejectWhenStopping(stopping?: AbortSignal): RequestHandler {
  return (_request, _response, next) => {
    if (!stopping?.aborted) return next();
    throw new OracleError('SHUTTING_DOWN', 'The service is stopping', { retryAfterSeconds: 5 });
  };
}

/** Mounts protocol adapters before the routes, so that an adapter may share a path with a route. */
function mountAdapters(app: Express, adapters: readonly ProtocolAdapter[], { admit, log }: { admit: Admit; log: Log }): void {
  for (const adapter of adapters) {
    const handler = createAdapterHandler(adapter, admit);
    const errors = createProblemHandler(log, ({ status, requestId }, response, error) =>
      adapter.serializeError({ ...toClientError(error), status, ...(typeof requestId === 'string' ? { requestId } : {}) }, response),
    );
    for (const { path, below, methods } of adapter.mounts) {
      if (below === true) app.use(path, handler, errors);
      else if (methods === undefined) app.route(path).all(handler, errors);
      else for (const method of methods) app[method](path, handler, errors);
    }
  }
}

function createAdapterHandler(adapter: ProtocolAdapter, admit: Admit): RequestHandler {
  const readBody = createBodyReader({ types: adapter.bodyTypes, limitBytes: adapter.bodyLimitBytes });
  return async (request, response) => {
    response.vary('Authorization');
    adapter.inspectRequest?.(request);
    const carriesPayment = async () => {
      if (adapter.carriesPayment === undefined) return false;
      await readBody(request, response);
      return adapter.carriesPayment(request.body);
    };
    await admit(request, response, { carriesPayment, identify: adapter.identify }, async (context) => {
      // Does nothing where the body is read already.
      await readBody(request, response, context);
      await adapter.handle(request, response, context);
    });
  };
}

/** Data responses load nothing and cannot be framed; HTML pages set their own `Content-Security-Policy`. */
const DATA_POLICY = { defaultSrc: ["'none'"], baseUri: ["'none'"], formAction: ["'none'"], frameAncestors: ["'none'"] };

const HSTS = `max-age=${365 * 86_400}`;

const ALLOWED_HEADERS = [
  ...['Authorization', 'Content-Type', 'If-Modified-Since', 'If-None-Match', 'X-Request-Id', 'traceparent'],
  ...PAYMENT_HEADERS,
  ...['A2A-Version', 'A2A-Extensions', 'X-A2A-Extensions'],
  ...['Last-Event-ID', 'Mcp-Method', 'Mcp-Name', 'Mcp-Protocol-Version', 'Mcp-Session-Id'],
];

const EXPOSED_HEADERS = [
  ...['A2A-Extensions', 'Deprecation', 'ETag', 'Link', PAYMENT_REQUIRED_HEADER, ...Object.values(SETTLEMENT_HEADERS)],
  ...['RateLimit', 'RateLimit-Policy', 'Retry-After', 'WWW-Authenticate', 'X-Request-Id', 'X-Stale'],
];

/** Browsers cache a preflight for two hours at most. */
const PREFLIGHT_SECONDS = 7_200;

/** Default response headers, which a route may override; `no-store` covers errors. */
function defaultHeaders(): RequestHandler {
  const headers = [...buildConstantHeaders(), ['Cache-Control', 'no-store'] as const];
  return (request, response, next) => {
    for (const [name, value] of headers) response.setHeader(name, value);
    if (request.secure) response.setHeader('Strict-Transport-Security', HSTS);
    next();
  };
}

/** Headers of helmet, which do not depend on the request, computed once. */
function buildConstantHeaders(): [name: string, value: string][] {
  const set = helmet({
    contentSecurityPolicy: { useDefaults: false, directives: DATA_POLICY },
    // Pages of other sites may read public data.
    crossOriginResourcePolicy: { policy: 'cross-origin' },
    // `frame-ancestors` covers it, and a page can override that.
    xFrameOptions: false,
    strictTransportSecurity: false,
    xPoweredBy: false,
  });
  const headers = new Map<string, string>();
  const response = { setHeader: (name: string, value: string) => headers.set(name, value), removeHeader: () => undefined };
  set({} as IncomingMessage, response as unknown as ServerResponse, (error) => {
    if (error !== undefined) throw error;
  });
  return [...headers];
}

const PUBLIC_CORS: CorsOptions = {
  origin: '*',
  methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
  allowedHeaders: ALLOWED_HEADERS,
  exposedHeaders: EXPOSED_HEADERS,
  maxAge: PREFLIGHT_SECONDS,
};

/** Paths for the pages of this service alone: another page could guess the operator's password, or use the demo wallets. */
const OWN_PAGES_PATHS = [ADMIN_PATH, '/api/demo', OAUTH_PATHS.consent];

/** Any origin, without cookies and passwords. */
function crossOrigin(): RequestHandler {
  return cors<Request>((request, choose) =>
    choose(null, OWN_PAGES_PATHS.some((path) => `${request.path}/`.startsWith(`${path}/`)) ? { origin: false } : PUBLIC_CORS),
  );
}

/** Compresses the responses to anonymous requests that are not encoded yet. */
function compressPublicReplies(): RequestHandler {
  return compression({
    threshold: MIN_COMPRESSED_BYTES,
    brotli: { params: { [constants.BROTLI_PARAM_QUALITY]: QUICK_BROTLI_QUALITY } },
    filter: (request, response) =>
      isCompressible(request as Request, response.getHeader('Content-Type')) && compression.filter(request, response),
  });
}

const GRACE_MS = 3_000;

interface Timeouts {
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
  const { headersMs, requestMs, stalledMs } = { ...TIMEOUTS, ...options.timeouts };
  const server = createServer(
    {
      headersTimeout: headersMs,
      requestTimeout: requestMs,
      connectionsCheckingInterval: Math.min(headersMs, 5_000) / 2,
      maxHeaderSize: 16_384,
      // Other upgrades, such as h2c, are ignored, and the request is answered over HTTP/1.1.
      shouldUpgradeCallback: isHandshake,
    },
    queuePerSocket(beginByTurns((request, response) => current(request, response))),
  );
  server.on('clientError', answerClientError);
  const pendingResponses = trackResponses(server, options.stopping);
  const watched = watchSockets(server, { ...options.limits, stalledMs });
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
    close: () => (closing ??= closeServer(server, stopAccepting, { pendingResponses, sockets })),
  };
}

/** Pipelined requests per socket; browsers, proxies and client libraries do not pipeline. */
const MAX_WAITING_REQUESTS = 16;

/** Time in one turn of the event loop for requests that begin; those after it wait, so that answers under way are not delayed. */
const MAX_TURN_MS = 8;

type Exchange = [request: IncomingMessage, response: ServerResponse];

/**
 * Handles the requests of each socket in order, one at a time, so that a client that does not read holds one response in memory. Resets
 * a socket with more than `MAX_WAITING_REQUESTS` pipelined requests, and drops requests of a closed socket.
 */
function queuePerSocket(handle: RequestListener): RequestListener {
  const queues = new WeakMap<Socket, { isBusy: boolean; waiting: Exchange[] }>();

  function dispatch(queue: { isBusy: boolean; waiting: Exchange[] }, [request, response]: Exchange): void {
    queue.isBusy = true;
    response.once('close', () => {
      queue.isBusy = false;
      if (!request.socket.writable) queue.waiting = [];
      const next = queue.waiting.shift();
      if (next !== undefined) dispatch(queue, next);
    });
    handle(request, response);
  }

  return (request, response) => {
    const { socket } = request;
    if (socket.destroyed || !socket.writable) return;
    const queue = queues.get(socket) ?? { isBusy: false, waiting: [] };
    if (!queue.isBusy) {
      queues.set(socket, queue);
      return dispatch(queue, [request, response]);
    }
    if (queue.waiting.length < MAX_WAITING_REQUESTS) return void queue.waiting.push([request, response]);
    queue.waiting = [];
    socket.resetAndDestroy();
  };
}

/**
 * Begins requests for at most `MAX_TURN_MS` in a turn of the event loop. Of those that wait, requests that name a credential begin by turns
 * with the others: hundreds of anonymous callers delay a token holder by one turn, and so do hundreds of invented tokens the others.
 */
function beginByTurns(handle: RequestListener): RequestListener {
  const [named, anonymous]: [Exchange[], Exchange[]] = [[], []];
  let turnEndsMs: number | null = null;

  function beginWaiting(): void {
    turnEndsMs = performance.now() + MAX_TURN_MS;
    for (let isNamed = true; named.length + anonymous.length > 0 && performance.now() < turnEndsMs; isNamed = !isNamed) {
      const exchange = (isNamed ? named : anonymous).shift();
      if (exchange !== undefined && !exchange[1].closed) handle(...exchange);
    }
    endTurn();
  }

  function endTurn(): void {
    setImmediate(() => {
      if (named.length + anonymous.length > 0) beginWaiting();
      else turnEndsMs = null;
    });
  }

  return (request, response) => {
    if (turnEndsMs === null) {
      turnEndsMs = performance.now() + MAX_TURN_MS;
      endTurn();
    }
    if (named.length + anonymous.length === 0 && performance.now() < turnEndsMs) return handle(request, response);
    (request.headers.authorization === undefined ? anonymous : named).push([request, response]);
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
async function closeServer(
  server: Server,
  stopAccepting: () => Promise<void>,
  open: { pendingResponses: ReadonlySet<ServerResponse>; sockets: ReadonlySet<Duplex> },
): Promise<void> {
  const timer = setTimeout(() => {
    server.closeAllConnections();
    for (const socket of open.sockets) socket.destroy();
  }, GRACE_MS);
  open.pendingResponses.forEach(announceClose);
  const closed = stopAccepting();
  server.closeIdleConnections();
  await closed;
  clearTimeout(timer);
}

/** Answers a request that the HTTP parser rejects, on the raw socket, and closes the connection. */
function answerClientError({ code }: NodeJS.ErrnoException, socket: Duplex): void {
  // The client is gone, or a response is half written.
  if (code === 'ECONNRESET' || !socket.writable || ('bytesWritten' in socket && socket.bytesWritten !== 0)) return void socket.destroy();
  const [status, errorCode, message] = CLIENT_FAULTS[code ?? ''] ?? ([400, 'INPUT_INVALID', 'Not an HTTP/1.1 request'] as const);
  const problem = toProblemDetails(new OracleError(errorCode, message), '');
  const body = JSON.stringify({ ...problem, status, title: STATUS_CODES[status] });
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Content-Type: application/problem+json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Cache-Control: no-store',
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}

const CLIENT_FAULTS: Record<string, readonly [status: number, code: ErrorCode, message: string]> = {
  HPE_HEADER_OVERFLOW: [431, 'PAYLOAD_TOO_LARGE', 'The request headers are too large'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'INPUT_INVALID', 'The request was not complete in time'],
};
