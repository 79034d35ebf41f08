import { randomUUID } from 'node:crypto';
import type { Request, RequestHandler, Response } from 'express';
import type { Caller } from '../../../../auth/caller.ts';
import type { Log } from '../../../../platform/log.ts';
import { getClientAddress } from './client-address.ts';

/** Longer ones are told without being asked. */
const SLOW_MS = 2_000;

/** Only what cannot break a line or a header of somebody else's. */
const SANE_ID = /^[\w-]{1,64}$/;

/** What the log says of requests under way. */
const factsByResponse = new WeakMap<Response, RequestFacts>();

interface RequestFacts {
  requestId: string;
  ip: string;
  wallet?: string | undefined;
}

/**
 * Gives each request an id, the caller's own where it is a plain token, and logs its end: what failed here or was slow at
 * `info`, all others at `debug`. A line has the path as it is declared, never as it was sent, and no header or body.
 */
export function requestLog(log: Log): RequestHandler {
  return (request, response, next) => {
    const startedAtMs = performance.now();
    // Of now: a connection that breaks has no address any more.
    const facts: RequestFacts = { requestId: chooseRequestId(request), ip: getClientAddress(request) };
    factsByResponse.set(response, facts);
    response.set('X-Request-Id', facts.requestId);
    response.once('close', () => {
      const ms = Math.round(performance.now() - startedAtMs);
      const { statusCode: status } = response;
      const line = { ...facts, method: request.method, route: getRoutePath(request), status, ms };
      const finished = response.writableFinished ? line : { ...line, aborted: true };
      // 503 says that something is awaited, and callers that poll would fill the log with it.
      if ((status >= 500 && status !== 503) || ms >= SLOW_MS) log.info(finished, 'request');
      else log.debug(finished, 'request');
    });
    next();
  };
}

/** Where a request came from, and what it is named by. */
export interface RequestSource {
  requestId: string;
  /** As the limits count it. */
  address: string;
}

/** The origin of the request that an answer belongs to. */
export function getRequestSource(response: Response): RequestSource {
  const { requestId, ip } = factsByResponse.get(response)!;
  return { requestId, address: ip };
}

/** Lets the log say whose request it was. */
export function setLoggedCaller(response: Response, { wallet }: Caller): void {
  const facts = factsByResponse.get(response);
  if (facts !== undefined) facts.wallet = wallet;
}

/** The id that the log and the header `X-Request-Id` have. */
export function getRequestId(response: Response): string | undefined {
  return factsByResponse.get(response)?.requestId;
}

/** The path of the operation as declared; what was sent may hold anything. */
export function getRoutePath(request: Request): string {
  const path: unknown = request.route?.path;
  return typeof path === 'string' ? path : '(none)';
}

function chooseRequestId(request: Request): string {
  const sent = request.get('X-Request-Id');
  return sent !== undefined && SANE_ID.test(sent) ? sent : randomUUID();
}
