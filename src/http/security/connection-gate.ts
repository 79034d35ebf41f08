import type { Request, RequestHandler, Response } from 'express';
import { OracleError } from '../../errors.ts';
import type { AppOptions } from '../app.ts';
import { carriesPayment } from '../payment-headers.ts';
import { type ClientConnection, connectionOf } from '../sockets/client-connection.ts';
import type { Claim, ReserveKind } from '../sockets/connection-budget.ts';
import { isHandshake } from '../websocket/handshakes.ts';
import { clientAddress } from './client-address.ts';

type Identify = AppOptions['identify'];

const PROBES = new Set(['/health', '/ready']);

const RETRY_AFTER_SECONDS = 10;

/**
 * Lets the first request of a connection without a place use the reserve, and end it, where it is a health probe, has a token that
 * verifies, or carries a payment. Requests of trusted proxies take a place each, for the address that the proxy forwards.
 * @throws by what it makes: OracleError OVERLOADED
 */
export function connectionGate({ identify }: { identify: Identify }): RequestHandler {
  return (request, response, next) => {
    const connection = connectionOf(request.socket);
    if (connection === undefined) return next();
    if (connection.isProxied) return admitProxied({ request, response, connection }, identify).then(() => next());
    if (!connection.isOnProbation) return next();
    response.setHeader('Connection', 'close');
    return claimReserve(request, connection, identify).then((claim) => {
      connection.hold(claim);
      next();
    });
  };
}

interface Exchange {
  request: Request;
  response: Response;
  connection: ClientConnection;
}

async function admitProxied({ request, response, connection }: Exchange, identify: Identify): Promise<void> {
  connection.address = clientAddress(request);
  const claim = connection.budget.claimGeneral(connection.address) ?? (await claimReserve(request, connection, identify));
  if (response.closed) return claim();
  connection.hold(claim);
  response.once('close', () => connection.release());
}

async function claimReserve(request: Request, { budget, address }: ClientConnection, identify: Identify): Promise<Claim> {
  const kind = await reserveKind(request, identify);
  const claim = kind === null ? null : budget.claimReserve(kind, address);
  if (claim === null) throw overloaded();
  return claim;
}

async function reserveKind(request: Request, identify: Identify): Promise<ReserveKind | null> {
  if (PROBES.has(request.path) && (request.method === 'GET' || request.method === 'HEAD')) return 'probe';
  // Tokens and tickets of a handshake are verified before anything else is done for it.
  if (isHandshake(request) && (request.query.token ?? request.query.ticket) !== undefined) return 'token';
  if (carriesPayment(request)) return 'payment';
  const authorization = request.get('Authorization');
  if (authorization === undefined) return null;
  const caller = await identify(authorization).catch(() => null);
  return caller?.wallet === undefined ? null : 'token';
}

function overloaded(): OracleError {
  return new OracleError('OVERLOADED', 'All connections that your network or anonymous clients may have are in use', {
    suggestedAction: 'Close connections that you do not use, or send a token of POST /api/svc/oracle/verify.',
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}
