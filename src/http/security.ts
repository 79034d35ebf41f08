import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Request, RequestHandler, Response } from 'express';
import { ENDPOINTS } from '../../agent-card/endpoints.ts';
import { SKILLS } from '../../skills/index.ts';
import type { Caller } from '../auth/caller.ts';
import type { RateLimits } from '../auth/rate-limits.ts';
import { OracleError } from '../errors.ts';
import type { LoadShedder } from '../platform/load-shedder.ts';
import type { Log } from '../platform/log.ts';
import { enterTrace, type OpenSpan, parseTraceparent } from '../platform/tracing.ts';
import type { ChainWork } from './admission.ts';
import { getClientAddress } from './request-counter.ts';

export interface AppOptions {
  /** Called with each request that ends. Absent: none is observed. */
  observeRequest?: (ended: EndedRequest) => void;
  log: Log;
  /** Authenticates the `Authorization` header; the public caller without one. @throws OracleError UNAUTHENTICATED */
  identify(authorization: string | undefined): Promise<Caller>;
  /** Authenticates the operator. Absent: admin paths answer 404. @throws OracleError UNAUTHENTICATED */
  admin?: (authorization: string | undefined, source: RequestSource) => void | Promise<void>;
  /** Serves what is below `/admin` beside the operations. */
  adminPage?: RequestHandler;
  /** Absent: no rate limits. */
  limits?: RateLimits;
  /** Bounds concurrent requests that call the chain. Absent: unbounded. */
  chainWork?: ChainWork;
  /** Sheds requests that this process cannot answer in time. Absent: all are admitted. */
  loadShedder?: LoadShedder;
  /** Proxies whose `X-Forwarded-For` is trusted: the number of hops, or their addresses and ranges. Absent: none. */
  trustProxy?: number | readonly string[];
  /** Sends answers of public reads, and of other reads within a tier, again for up to a second. */
  reusesAnswers?: boolean;
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
      observeRequest?.({ ...ended, tier: logged.tier });
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

/** 404 for a path without a route. @param path as requested; empty for paths that must not be disclosed */
export function buildNotFoundError(path = ''): OracleError {
  const suggestedAction = path.startsWith(`${ENDPOINTS.skills}/`)
    ? `GET ${ENDPOINTS.skills} lists the skills: ${SKILLS.map(({ id }) => id).join(', ')}.`
    : 'GET / lists all operations.';
  return new OracleError('NOT_FOUND', 'Nothing is served at this path', { suggestedAction });
}
