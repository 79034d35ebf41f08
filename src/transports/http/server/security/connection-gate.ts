import type { ServerResponse } from 'node:http';
import type { Request, RequestHandler, Response } from 'express';
import { OracleError } from '../../../../platform/errors.ts';
import type { AppOptions } from '../app-options.ts';
import { hasPaymentPayload } from '../payments/payment-proof.ts';
import { type ClientConnection, getConnection } from '../sockets/client-connection.ts';
import type { ReleaseSlot, ReserveKind } from '../sockets/connection-budget.ts';
import { isHandshake } from '../sockets/handshakes.ts';
import { getClientAddress } from './client-address.ts';

type Identify = AppOptions['identify'];

const PROBES = new Set(['/health', '/ready']);

const RETRY_AFTER_SECONDS = 10;

/**
 * Admits the first request of a connection without a slot to the reserve where it is a health probe, has a valid token or carries a
 * payment of a known form; the connection closes after it. Requests of trusted proxies acquire a slot each, for the forwarded address.
 * @throws by the handler: OracleError OVERLOADED
 */
export function createConnectionGate({ identify }: { identify: Identify }): RequestHandler {
  return (request, response, next) => {
    const connection = getConnection(request.socket);
    if (connection === undefined) return next();
    if (connection.isProxied) return admitProxied(request, response, connection, identify).then(() => next());
    if (!connection.isProvisional) return next();
    response.setHeader('Connection', 'close');
    return acquireReserveSlot(request, connection, identify).then((releaseSlot) => {
      connection.assignSlot(releaseSlot);
      next();
    });
  };
}

async function admitProxied(request: Request, response: Response, connection: ClientConnection, identify: Identify): Promise<void> {
  if (tryAdmitProxied(connection, getClientAddress(request), response)) return;
  holdSlot(connection, response, await acquireReserveSlot(request, connection, identify));
}

/** Acquires a slot for one request of a trusted proxy, from the forwarded address; false where only the reserve is left. */
export function tryAdmitProxied(connection: ClientConnection, address: string, response: ServerResponse): boolean {
  connection.address = address;
  const releaseSlot = connection.budget.acquireGeneral(address);
  if (releaseSlot !== null) holdSlot(connection, response, releaseSlot);
  return releaseSlot !== null;
}

function holdSlot(connection: ClientConnection, response: ServerResponse, releaseSlot: ReleaseSlot): void {
  if (response.closed) {
    releaseSlot();
    return;
  }
  connection.assignSlot(releaseSlot);
  response.once('close', () => connection.release());
}

async function acquireReserveSlot(request: Request, { budget, address }: ClientConnection, identify: Identify): Promise<ReleaseSlot> {
  const kind = await getReserveKind(request, identify);
  const releaseSlot = kind === null ? null : budget.acquireReserve(kind, address);
  if (releaseSlot !== null) return releaseSlot;
  throw new OracleError('OVERLOADED', 'All connections available to your network or to anonymous clients are in use', {
    suggestedAction: 'Close unused connections, or send a token of POST /api/svc/oracle/verify.',
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}

async function getReserveKind(request: Request, identify: Identify): Promise<ReserveKind | null> {
  if (PROBES.has(request.path) && (request.method === 'GET' || request.method === 'HEAD')) return 'probe';
  // The handshake handler verifies the token or ticket before any other work.
  if (isHandshake(request) && (request.query.token ?? request.query.ticket) !== undefined) return 'token';
  if (hasPaymentPayload((name) => request.get(name))) return 'payment';
  const authorization = request.get('Authorization');
  if (authorization === undefined) return null;
  const caller = await identify(authorization).catch(() => null);
  return caller?.wallet === undefined ? null : 'token';
}
