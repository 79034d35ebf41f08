import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Request, RequestHandler, Response } from 'express';
import type { Caller } from '../auth/caller.ts';
import type { RateLimitDecision, RateLimits, SharedCapacity } from '../auth/rate-limits.ts';
import { type ErrorCode, OracleError } from '../errors.ts';
import { toAddressKey } from '../platform/budgets.ts';
import type { LoadShedder } from '../platform/load-shedder.ts';
import type { Log } from '../platform/log.ts';
import { enterTrace, type OpenSpan, parseTraceparent } from '../platform/tracing.ts';

export interface AppOptions {
  /** Called with each request that ends. Absent: none is observed. */
  observeRequest?: (ended: EndedRequest) => void;
  log: Log;
  /** Authenticates the `Authorization` header. @throws OracleError UNAUTHENTICATED */
  identify(authorization: string): Promise<Caller>;
  /** Authenticates the operator. Absent: admin paths answer 404. @throws OracleError UNAUTHENTICATED */
  admin?: (authorization: string | undefined, source: RequestSource) => void | Promise<void>;
  /** Serves what is below `/admin` beside the operations. */
  adminPage?: RequestHandler;
  /** Absent: no rate limits. */
  limits?: RateLimits;
  /** Bounds concurrent requests that call the chain. Absent: unbounded. */
  chainWork?: Pick<SharedCapacity, 'acquire'>;
  /** Sheds requests that this process cannot answer in time. Absent: all are admitted. */
  loadShedder?: LoadShedder;
  /** Proxies whose `X-Forwarded-For` is trusted: the number of hops, or their addresses and ranges. Absent: none. */
  trustProxy?: number | readonly string[];
  /** Sends answers of public reads, and of other reads within a tier, again. */
  reusesAnswers?: boolean;
  /** Of what answers are made from: record, market and minute. Equal states, equal answers. */
  readState?: (() => string) | undefined;
  /** Whether changes of the record may be missing for longer than declared. Absent: never. */
  isStale?: (() => boolean) | undefined;
  /** Aborts at shutdown: later requests are rejected. */
  stopping?: AbortSignal;
}

/** Slower requests are logged at `info`. */
const SLOW_MS = 2_000;

/** Rejects ids that could inject a header or a log line. */
const SANE_ID = /^[\w-]{1,64}$/;

interface LoggedRequest {
  facts: { requestId: string; traceId: string; ip: string; wallet?: string | undefined };
  span: OpenSpan;
  tier: Caller['tier'];
  code?: ErrorCode;
}

const loggedByResponse = new WeakMap<Response, LoggedRequest>();

/** A request whose answer has ended or was cut off. */
export interface EndedRequest {
  method: string;
  /** Declared path of the operation, never the path as sent. */
  route: string;
  status: number;
  tier: Caller['tier'];
  /** From the request to the end of its answer. */
  ms: number;
  /** Why it was refused. */
  code?: ErrorCode | undefined;
}

const SUMMARY_MS = 60_000;
const MAX_SLOWEST = 3;

/**
 * Logs what was answered, a line for each minute with requests, for the questions after an incident. No addresses, and paths as declared.
 * `flush` logs the last one.
 */
export function createRequestSummary(log: Log, level: 'info' | 'debug' = 'info') {
  // Not begun by a request, whose trace the line would name.
  setInterval(flush, SUMMARY_MS).unref();
  let seen = { requests: 0, statuses: {} as Record<number, number>, refusals: {} as Record<string, number>, slowest: [] as EndedRequest[] };

  function observe(ended: EndedRequest): void {
    const { status, code, ms } = ended;
    const { statuses, refusals, slowest } = seen;
    seen.requests += 1;
    statuses[status] = (statuses[status] ?? 0) + 1;
    if (code !== undefined) refusals[code] = (refusals[code] ?? 0) + 1;
    if (slowest.length === MAX_SLOWEST && ms <= slowest.at(-1)!.ms) return;
    seen.slowest = [...slowest, ended].sort((a, b) => b.ms - a.ms).slice(0, MAX_SLOWEST);
  }

  function flush(): void {
    if (seen.requests > 0) log[level](seen, 'requests of the last minute');
    seen = { requests: 0, statuses: {}, refusals: {}, slowest: [] };
  }

  return { observe, flush };
}

/**
 * Assigns each request an id, that of the client where it is a plain token, and logs its end: errors and slow requests at `info`, others
 * at `debug`. A log line has the declared path, never the path as sent, and neither headers nor body.
 */
export function requestLog({ log, observeRequest }: Pick<AppOptions, 'log' | 'observeRequest'>): RequestHandler {
  return (request, response, next) => {
    const startedAtMs = performance.now();
    // Read now: a closed connection has no address.
    const requestId = chooseRequestId(request);
    const parent = parseTraceparent(request.headers.traceparent);
    const span = enterTrace({ name: request.method, kind: 'server', parent, isFromClient: true, fields: { requestId } });
    const facts = { requestId, traceId: span.trace.traceId, ip: getClientAddress(request) };
    const logged: LoggedRequest = { facts, span, tier: 'public' };
    loggedByResponse.set(response, logged);
    response.set('X-Request-Id', requestId);
    response.once('close', () => {
      const ms = Math.round(performance.now() - startedAtMs);
      const { statusCode: status } = response;
      const ended = { method: request.method, route: getRoutePath(request), status, ms };
      observeRequest?.({ ...ended, tier: logged.tier, code: logged.code });
      endRequestSpan(response, ended);
      const line = { ...facts, ...ended };
      const finished = response.writableFinished ? line : { ...line, aborted: true };
      // Clients that poll during startup would fill the log with 503.
      if ((status >= 500 && status !== 503) || ms >= SLOW_MS) log.info(finished, 'request');
      else log.debug(finished, 'request');
    });
    span.run(next);
  };
}

/** Called for a WebSocket too, whose response is never closed. */
export function endRequestSpan(response: Response, { method, route, status }: Omit<EndedRequest, 'tier' | 'ms'>): void {
  loggedByResponse.get(response)?.span.end({
    name: `${method} ${route}`,
    attributes: { 'http.request.method': method, 'http.route': route, 'http.response.status_code': status },
    errorType: status >= 500 ? String(status) : undefined,
  });
}

export interface RequestSource {
  requestId: string;
  /** Rate-limit key of the client address. */
  address: string;
}

export function getRequestSource(response: Response): RequestSource {
  const { requestId, ip } = loggedByResponse.get(response)!.facts;
  return { requestId, address: ip };
}

export function setLoggedCaller(response: Response, { wallet, tier }: Caller): void {
  const logged = loggedByResponse.get(response);
  if (logged === undefined) return;
  logged.tier = tier;
  logged.facts.wallet = wallet;
}

export function setLoggedError(response: Response, code: ErrorCode): void {
  const logged = loggedByResponse.get(response);
  if (logged !== undefined) logged.code = code;
}

export function getRequestId(response: Response): string | undefined {
  return loggedByResponse.get(response)?.facts.requestId;
}

/** Declared path of the operation; the path as sent may contain secrets. */
export function getRoutePath(request: IncomingMessage & { route?: Request['route'] }): string {
  const path: unknown = request.route?.path;
  return typeof path === 'string' ? path : '(none)';
}

export function chooseRequestId({ headers }: IncomingMessage): string {
  const sent = headers['x-request-id'];
  return typeof sent === 'string' && SANE_ID.test(sent) ? sent : randomUUID();
}

/** IPv4 address, or IPv6 /64, which one subscriber owns. Behind trusted proxies the forwarded address where valid, else the proxy's. */
export function getClientAddress(request: Request): string {
  return (request.ip && toAddressKey(request.ip)) || toAddressKey(request.socket.remoteAddress ?? '') || 'unknown';
}

/**
 * `RateLimit` and `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers) name every policy that was applied.
 * @param limits undefined during startup, and for unmetered routes
 */
export function createRequestCounter(limits: RateLimits | undefined, response: Response) {
  // The last decision of each policy: a batch counts several times.
  const decisions = new Map<RateLimitDecision['policy'], RateLimitDecision>();
  const applyDecision = (decision: RateLimitDecision) => {
    decisions.set(decision.policy, decision);
    // A streamed response sends its headers before the last count.
    if (!response.headersSent) response.set(formatRateLimitHeaders([...decisions.values()]));
    if (!decision.allowed) throw buildRateLimitError(decision);
  };
  return {
    /** @throws OracleError RATE_LIMITED */
    async count(policy: keyof RateLimits, client: string, units = 1): Promise<void> {
      if (limits !== undefined) applyDecision(await limits[policy].take(client, units));
    },
    /** Counts without headers or rejection. */
    countSilently: async (policy: keyof RateLimits, client: string): Promise<void> => void (await limits?.[policy].take(client)),
    /** Does not count. @throws OracleError RATE_LIMITED where the client has no requests left */
    requireRemaining(policy: keyof RateLimits, client: string): void {
      const rejection = limits?.[policy].getRejection(client) ?? null;
      if (rejection !== null) applyDecision(rejection);
    },
    /** Whether `requireRemaining` passes. Sets no headers. */
    hasRemaining: (policy: keyof RateLimits, client: string): boolean => (limits?.[policy].getRejection(client) ?? null) === null,
  };
}

export function formatRateLimitHeaders(decisions: readonly RateLimitDecision[]): Record<string, string> {
  return {
    'RateLimit-Policy': decisions.map(({ policy, limit, windowSeconds: w }) => `"${policy}";q=${limit};w=${w}`).join(', '),
    RateLimit: decisions.map(({ policy, remaining, resetSeconds }) => `"${policy}";r=${remaining};t=${resetSeconds}`).join(', '),
  };
}

const POLICY_LABELS: Record<keyof RateLimits, string> = {
  public: 'requests per minute of one address',
  wallet: 'requests per minute of one wallet',
  rpc: 'chain-call requests per minute of one address',
  failures: 'failed passwords per minute of one address',
  tasks: 'A2A messages per hour (one per 4 kB) of one address without a token',
  payer: 'rejected payments per minute of one payer',
  payments: 'rejected payments per minute of one address',
};

const SCOPE_LABELS = { '/56': 'of one /56', '/48': 'of one /48', all: 'of all callers' } as const;

function buildRateLimitError({ policy, scope, limit, windowSeconds, resetSeconds }: RateLimitDecision): OracleError {
  const login = policy === 'public' || policy === 'tasks' ? ' A token from POST /api/svc/oracle/verify has a higher limit.' : '';
  const label = POLICY_LABELS[policy];
  const limited = scope === 'client' ? label : label.replace(/of one (?:address|wallet)/, SCOPE_LABELS[scope]);
  return new OracleError('RATE_LIMITED', `The limit of ${limit} ${limited} is reached`, {
    suggestedAction: `Wait ${resetSeconds} s.${login}`,
    retryAfterSeconds: resetSeconds,
    details: { policy, scope, limit, windowSeconds },
  });
}

/** Request headers for a payment: of x402 version 2, of version 1, and of this interface (section 4.5). Each takes either version. */
export const PAYMENT_HEADERS = ['PAYMENT-SIGNATURE', 'X-PAYMENT', 'X-402-Payment'] as const;

export function hasPaymentHeader(request: Pick<Request, 'get'>): boolean {
  return PAYMENT_HEADERS.some((name) => request.get(name) !== undefined);
}

/** The compressed size of a response to a token or payment could leak its content (BREACH). */
export function isCompressible(request: Request, contentType: unknown): boolean {
  return request.headers.authorization === undefined && !hasPaymentHeader(request) && !String(contentType).startsWith('text/event-stream');
}
