import type { RequestHandler, Response } from 'express';
import { requirementOf, requireTier } from '../../access/tiers.ts';
import { bearerToken } from '../../access/tokens.ts';
import { isOracleError, OracleError } from '../../errors.ts';
import type { Accept, TakenSocket } from '../../push/websocket/accept.ts';
import type { Holder } from '../../push/websocket/holder.ts';
import { subscriptionOf } from '../../push/websocket/subscription.ts';
import type { AppOptions } from '../app.ts';
import { createHolderAdmission } from '../security/guard.ts';
import { originOf } from '../security/request-log.ts';
import { takeHandshake } from './handshakes.ts';
import { type Proof, readHandshake } from './read-handshake.ts';

/** What stands behind the handshakes. */
export interface WebSocketParts {
  /** @throws OracleError ORIGIN_REFUSED */
  checkPage(origin: string | undefined): void;
  /** Who holds a token. @throws OracleError UNAUTHENTICATED, CHAIN_UNREACHABLE */
  identifyToken(token: string): Promise<Holder>;
  /** Who asked for a ticket; it is used up. @throws OracleError UNAUTHENTICATED, CHAIN_UNREACHABLE */
  redeemTicket(ticket: string): Promise<Holder>;
  /** Id of the newest event. */
  lastEventId(): Promise<number>;
  accept: Accept;
}

/** Answers handshakes: lets callers of the Basic tier in, and refuses all others as over HTTP. */
export function createWebSocketDoor(parts: WebSocketParts, options: Pick<AppOptions, 'limits'>): RequestHandler {
  const admit = createHolderAdmission(options);
  return async (request, response) => {
    parts.checkPage(request.get('Origin'));
    const { proof, query } = readHandshake(request);
    const holder = await admit(request, response, () => identify(parts, proof));
    requireTier(holder.caller, 'basic');
    const { since = null } = query;
    if (since !== null) await refuseFuture(since, parts);
    const take = (): TakenSocket => {
      const handshake = takeHandshake(request);
      if (handshake === null) throw new Error('the handshake was answered already');
      return { ...handshake, headers: headersOf(response) };
    };
    await parts.accept({ holder, subscription: subscriptionOf(query), since, requestId: originOf(response).requestId, take });
  };
}

async function identify({ identifyToken, redeemTicket }: WebSocketParts, proof: Proof | null): Promise<Holder> {
  if (proof === null) throw proofNeeded();
  const { field, value } = proof;
  const token = field === 'Authorization' ? bearerToken(value) : value;
  try {
    return field === 'ticket' ? await redeemTicket(token) : await identifyToken(token);
  } catch (error) {
    throw isOracleError(error, 'UNAUTHENTICATED') ? named(error, field) : error;
  }
}

function proofNeeded(): OracleError {
  return new OracleError('UNAUTHENTICATED', 'This needs an access token', {
    field: 'token',
    suggestedAction: `Log in with a wallet that holds ${requirementOf('basic')}: POST /api/svc/oracle/verify, then connect with \`token\`, \`Authorization: Bearer <token>\` or \`ticket\`.`,
  });
}

/** The field that it came in. */
function named({ message, suggestedAction }: OracleError, field: Proof['field']): OracleError {
  return new OracleError('UNAUTHENTICATED', message, { field, suggestedAction });
}

async function refuseFuture(since: number, { lastEventId }: WebSocketParts): Promise<void> {
  const last = await lastEventId();
  if (since <= last) return;
  throw new OracleError('INPUT_INVALID', `query parameter "since": there is no event ${since} yet, the newest is ${last}`, {
    field: 'since',
    suggestedAction: `Send the id of the last event that you have, at most ${last}, or leave it out.`,
    details: { lastEventId: last },
  });
}

/** What every answer says beside, also one that becomes a socket. */
function headersOf(response: Response): Record<string, string> {
  return Object.fromEntries(
    TOLD.flatMap((name) => {
      const value = response.get(name);
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

const TOLD = ['X-Request-Id', 'RateLimit-Policy', 'RateLimit'];
