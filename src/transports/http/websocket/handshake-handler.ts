import type { RequestHandler, Response } from 'express';
import { formatTierRequirement, requireTier } from '../../../auth/tiers/tiers.ts';
import { parseBearerToken } from '../../../auth/tokens/access-tokens.ts';
import type { AcceptConnection, ClaimedSocket } from '../../../events/websocket/accept-connection.ts';
import type { SessionHolder } from '../../../events/websocket/session-holder.ts';
import { buildSubscription } from '../../../events/websocket/subscription.ts';
import { isOracleError, OracleError } from '../../../platform/errors.ts';
import type { AppOptions } from '../server/app-options.ts';
import { createTokenHolderAdmission } from '../server/security/guard.ts';
import { endRequestSpan, getRequestSource, getRoutePath } from '../server/security/request-log.ts';
import { takeHandshake } from '../server/sockets/handshakes.ts';
import { type HandshakeCredential, parseHandshake } from './parse-handshake.ts';

export interface WebSocketDeps {
  /** @throws OracleError UNAUTHENTICATED, CHAIN_UNREACHABLE */
  identifyToken(token: string): Promise<SessionHolder>;
  /** @throws OracleError UNAUTHENTICATED, CHAIN_UNREACHABLE */
  identifyTicket(ticket: string): Promise<SessionHolder>;
  /** @throws OracleError UNAUTHENTICATED */
  redeemTicket(ticket: string): Promise<void>;
  lastEventId(): Promise<number>;
  accept: AcceptConnection;
}

/** Callers of the Basic tier. Any origin may connect: browsers never send ticket or token by themselves, and cookies are not read. */
export function createHandshakeHandler(deps: WebSocketDeps, options: Pick<AppOptions, 'limits'>): RequestHandler {
  const admit = createTokenHolderAdmission(options);
  return async (request, response) => {
    // Malformed handshakes count against the address like rejected ones.
    const { credential, query, ...holder } = await admit(request, response, async () => {
      const handshakeRequest = parseHandshake(request);
      return { ...handshakeRequest, ...(await identifyHolder(deps, handshakeRequest.credential)) };
    });
    requireTier(holder.caller, 'basic');
    const { since = null } = query;
    if (since !== null) await rejectFutureEventId(since, deps);
    const take = (): ClaimedSocket => {
      const handshake = takeHandshake(request);
      if (handshake === null) throw new Error('the handshake was answered already');
      endRequestSpan(response, { method: request.method, route: getRoutePath(request), status: 101 });
      return { ...handshake, headers: pickHandshakeHeaders(response) };
    };
    const redeem = async () => {
      if (credential?.field === 'ticket') await deps.redeemTicket(credential.value);
    };
    await deps.accept({
      holder,
      subscription: buildSubscription(query),
      since,
      requestId: getRequestSource(response).requestId,
      redeemProof: redeem,
      claimSocket: take,
    });
  };
}

async function identifyHolder(
  { identifyToken, identifyTicket }: WebSocketDeps,
  credential: HandshakeCredential | null,
): Promise<SessionHolder> {
  if (credential === null) throw buildTokenRequiredError();
  const { field, value } = credential;
  const token = field === 'Authorization' ? parseBearerToken(value) : value;
  try {
    return field === 'ticket' ? await identifyTicket(token) : await identifyToken(token);
  } catch (error) {
    throw isOracleError(error, 'UNAUTHENTICATED') ? withField(error, field) : error;
  }
}

function buildTokenRequiredError(): OracleError {
  const suggestedAction = `Log in with a wallet that holds ${formatTierRequirement('basic')}: POST /api/svc/oracle/verify, then connect with \`token\`, \`Authorization: Bearer <token>\` or \`ticket\`.`;
  return new OracleError('UNAUTHENTICATED', 'An access token is required', { field: 'token', suggestedAction });
}

function withField({ message, suggestedAction }: OracleError, field: HandshakeCredential['field']): OracleError {
  return new OracleError('UNAUTHENTICATED', message, { field, suggestedAction });
}

async function rejectFutureEventId(since: number, { lastEventId }: WebSocketDeps): Promise<void> {
  const last = await lastEventId();
  if (since <= last) return;
  throw new OracleError('INPUT_INVALID', `query parameter "since": event ${since} does not exist yet, the newest is ${last}`, {
    field: 'since',
    suggestedAction: `Send the id of your last event, at most ${last}, or omit it.`,
    details: { lastEventId: last },
  });
}

function pickHandshakeHeaders(response: Response): Record<string, string> {
  return Object.fromEntries(
    HANDSHAKE_HEADERS.flatMap((name) => {
      const value = response.get(name);
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

const HANDSHAKE_HEADERS = ['X-Request-Id', 'RateLimit-Policy', 'RateLimit'];
