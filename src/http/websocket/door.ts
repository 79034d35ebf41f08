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
  /** Who holds a token. @throws OracleError UNAUTHENTICATED, CHAIN_UNREACHABLE */
  identifyToken(token: string): Promise<Holder>;
  /** Who asked for a ticket. @throws OracleError UNAUTHENTICATED, CHAIN_UNREACHABLE */
  identifyTicket(ticket: string): Promise<Holder>;
  /** Uses a ticket up. @throws OracleError UNAUTHENTICATED */
  redeemTicket(ticket: string): Promise<void>;
  /** Id of the newest event. */
  lastEventId(): Promise<number>;
  accept: Accept;
}

/**
 * Answers handshakes: lets callers of the Basic tier in, and refuses all others as over HTTP. A page of any origin may connect: it needs
 * a ticket or a token, which browsers never send by themselves, and cookies are not read.
 */
export function createWebSocketDoor(parts: WebSocketParts, options: Pick<AppOptions, 'limits'>): RequestHandler {
  const admit = createHolderAdmission(options);
  return async (request, response) => {
    // What is malformed counts against the address like what is refused.
    const { proof, query, ...holder } = await admit(request, response, async () => {
      const asked = readHandshake(request);
      return { ...asked, ...(await identify(parts, asked.proof)) };
    });
    requireTier(holder.caller, 'basic');
    const { since = null } = query;
    if (since !== null) await refuseFuture(since, parts);
    const take = (): TakenSocket => {
      const handshake = takeHandshake(request);
      if (handshake === null) throw new Error('the handshake was answered already');
      return { ...handshake, headers: headersOf(response) };
    };
    const use = async () => {
      if (proof?.field === 'ticket') await parts.redeemTicket(proof.value);
    };
    await parts.accept({ holder, subscription: subscriptionOf(query), since, requestId: originOf(response).requestId, use, take });
  };
}

async function identify({ identifyToken, identifyTicket }: WebSocketParts, proof: Proof | null): Promise<Holder> {
  if (proof === null) throw proofNeeded();
  const { field, value } = proof;
  const token = field === 'Authorization' ? bearerToken(value) : value;
  try {
    return field === 'ticket' ? await identifyTicket(token) : await identifyToken(token);
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
