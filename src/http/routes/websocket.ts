import type { Request, RequestHandler } from 'express';
import { z } from 'zod';
import { getCredentialId } from '../../auth/caller.ts';
import { formatTierRequirement, requireTier } from '../../auth/tiers.ts';
import { parseBearerToken, unauthenticated } from '../../auth/tokens.ts';
import { isOracleError, OracleError } from '../../errors.ts';
import { MOVE_SIZE_FILTER, ONE_CHOICE, PUSHED_NAMES, type PushedName, WEBSOCKET } from '../../events/events.ts';
import { buildSubscription, type SessionHolder } from '../../events/websocket/connection.ts';
import { type AcceptConnection, type ClaimedSocket, TICKET_SECONDS } from '../../events/websocket/hub.ts';
import { MOVE_SIZES } from '../../forecast/move.ts';
import { COUNT, SUCCESS, TIME } from '../../platform/validation.ts';
import { createTokenHolderAdmission, parseQuery } from '../guard.ts';
import { HORIZON_PARAMETERS } from '../parameters.ts';
import { type AppOptions, endRequestSpan, getRequestSource, getRoutePath } from '../request.ts';
import { type Route, route } from '../route.ts';
import type { Services } from '../services.ts';
import { takeHandshake } from '../sockets.ts';

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
      const headers = HANDSHAKE_HEADERS.flatMap((name) => {
        const value = response.get(name);
        return value === undefined ? [] : [[name, value]];
      });
      return { ...handshake, headers: Object.fromEntries(headers) };
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
  if (credential === null) {
    const suggestedAction = `Log in with a wallet that holds ${formatTierRequirement('basic')}: POST /api/svc/oracle/verify, then connect with \`token\`, \`Authorization: Bearer <token>\` or \`ticket\`.`;
    throw new OracleError('UNAUTHENTICATED', 'An access token is required', { field: 'token', suggestedAction });
  }
  const { field, value } = credential;
  const token = field === 'Authorization' ? parseBearerToken(value) : value;
  try {
    return field === 'ticket' ? await identifyTicket(token) : await identifyToken(token);
  } catch (error) {
    if (!isOracleError(error, 'UNAUTHENTICATED')) throw error;
    const { message, suggestedAction } = error;
    throw new OracleError('UNAUTHENTICATED', message, { field, suggestedAction });
  }
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

const HANDSHAKE_HEADERS = ['X-Request-Id', 'RateLimit-Policy', 'RateLimit'];

interface HandshakeCredential {
  field: 'Authorization' | 'token' | 'ticket';
  value: string;
}

const VERSION = '13';
/** 16 bytes as base64 (RFC 6455, section 4.1). */
const KEY = /^[+/0-9A-Za-z]{22}==$/;

/** @throws OracleError METHOD_NOT_ALLOWED, UPGRADE_REQUIRED, INPUT_INVALID naming the field, never repeating a value */
function parseHandshake(request: Request) {
  if (request.method !== 'GET') throw new OracleError('METHOD_NOT_ALLOWED', 'A WebSocket handshake requires GET');
  // RFC 9110, section 7.8.
  if (request.httpVersion === '1.0') throw buildHeaderError('Upgrade', 'is not supported in HTTP/1.0');
  // The bytes that follow a handshake are frames.
  if (request.get('Transfer-Encoding') !== undefined) throw buildHeaderError('Transfer-Encoding', 'a handshake has no body');
  if (Number(request.get('Content-Length') ?? 0) !== 0) throw buildHeaderError('Content-Length', 'a handshake has no body');
  if (request.get('Sec-WebSocket-Version') !== VERSION) {
    throw new OracleError('UPGRADE_REQUIRED', `Only version ${VERSION} of the WebSocket protocol is supported`, {
      field: 'Sec-WebSocket-Version',
      suggestedAction: `Send Sec-WebSocket-Version: ${VERSION}.`,
    });
  }
  if (!KEY.test(request.get('Sec-WebSocket-Key') ?? '')) throw buildHeaderError('Sec-WebSocket-Key', 'must be 16 bytes as base64');
  const { token, ticket, since, sinceId, ...query } = parseQuery(HANDSHAKE_QUERY, request);
  if (since !== undefined && sinceId !== undefined) throw buildHeaderError('sinceId', 'cannot be combined with since, its older name');
  return {
    credential: pickCredential({ Authorization: request.get('Authorization'), token, ticket }),
    query: { ...query, since: sinceId ?? since },
  };
}

function pickCredential(sent: Record<HandshakeCredential['field'], string | undefined>): HandshakeCredential | null {
  const credentials = Object.entries(sent).flatMap(([field, value]) =>
    value === undefined ? [] : [{ field, value } as HandshakeCredential],
  );
  if (credentials.length <= 1) return credentials[0] ?? null;
  const [{ field }] = credentials;
  throw new OracleError('INPUT_INVALID', `Send only one of ${credentials.map((credential) => credential.field).join(' and ')}`, {
    field,
    suggestedAction: 'Send one of them.',
  });
}

function buildHeaderError(field: string, problem: string): OracleError {
  const suggestedAction = 'Connect with an RFC 6455 client.';
  return new OracleError('INPUT_INVALID', `Header "${field}": ${problem}`, { field, suggestedAction });
}

function listInput<Name extends string>(names: readonly Name[]) {
  const one = `(${names.map((name) => name.replaceAll('.', '\\.')).join('|')})`;
  return z
    .string()
    .regex(new RegExp(`^${one}(,${one}){0,19}$`), `must be one or more of ${names.join(', ')}, separated by commas`)
    .transform((text) => text.split(',') as Name[]);
}

/** RFC 6750, section 2.1. */
const CREDENTIAL = z
  .string()
  .regex(/^[\w.~+/-]+=*$/, 'has invalid characters')
  .max(2_048, 'is too long')
  .optional();

const eventId = z
  .string()
  .regex(/^(0|[1-9]\d{0,14})$/, 'must be an event id: a whole number from 0')
  .transform(Number)
  .optional();

/** Interface, section 6.1, has `token` only. */
export const HANDSHAKE_QUERY = z
  .object({
    token: CREDENTIAL.describe(
      'Access token of `POST /api/svc/oracle/verify`; alternatively `Authorization: Bearer <token>` or a `ticket`',
    ),
    ticket: CREDENTIAL.describe('Ticket of `POST /api/svc/ws/ticket`, for browsers, which cannot send the header'),
    events: listInput<PushedName>(PUSHED_NAMES).optional().describe('Event types, separated by commas; default: all'),
    ...HORIZON_PARAMETERS,
    moveSize: listInput(MOVE_SIZES).optional().describe(`${MOVE_SIZE_FILTER}, separated by commas; the horizon is then \`1d\` by default`),
    sinceId: eventId.describe('Id of your last event: later ones are sent first. Default: only new events'),
    since: eventId.describe('Older name of `sinceId`: an id, while `since` of a webhook replay is a time'),
  })
  .refine(...ONE_CHOICE);

const TICKET_REPLY = z.object({
  success: SUCCESS,
  ticket: z.string().describe('Opens one connection, with the rights of the requesting token'),
  expiresAt: TIME.describe('Valid until'),
  expires_in: COUNT.describe('Seconds until expiry'),
  url: z.url().describe('WebSocket URL with the ticket; `events`, `horizon`, `horizons`, `moveSize` and `since` can be added'),
});

/** Interface, section 6.1. */
export function webSocketRoutes({ publicUrl, tickets }: Services): Route[] {
  return [
    route(`GET ${WEBSOCKET.path}`, 'openWebSocket', {
      tag: 'signal',
      access: 'basic',
      isWebSocket: true,
      summary: 'Opens a WebSocket for live events',
      description: `RFC 6455 handshake; other requests answer 426. Browsers cannot send \`Authorization\`, and a token in a URL may be logged: use a \`ticket\` of \`POST /api/svc/ws/ticket\`. At most ${WEBSOCKET.connectionsPerWallet} connections per wallet. Any origin may connect; cookies are not read.`,
      query: HANDSHAKE_QUERY,
      status: 101,
      reply: null,
      otherReplies: { 200: { description: 'The same over HTTP/2 through a proxy (RFC 8441, section 5)' } },
      errors: ['UPGRADE_REQUIRED'],
      handle: () => {
        const suggestedAction = `Connect to ${buildWebSocketUrl(publicUrl)} with a WebSocket client.`;
        throw new OracleError('UPGRADE_REQUIRED', 'Not a WebSocket handshake', { suggestedAction });
      },
    }),
    route('POST /api/svc/ws/ticket', 'issueWebSocketTicket', {
      tag: 'signal',
      access: 'basic',
      summary: `Single-use ticket for a WebSocket, valid for ${TICKET_SECONDS} seconds, in place of a token in the URL`,
      reply: TICKET_REPLY,
      async handle({ caller }) {
        const credentialId = getCredentialId(caller);
        if (credentialId === undefined) throw unauthenticated('An access token is required');
        const { ticket, expiresAt } = await tickets.issue(credentialId);
        const url = `${buildWebSocketUrl(publicUrl)}?ticket=${ticket}`;
        return { body: { success: true as const, ticket, expiresAt: expiresAt.toISOString(), expires_in: TICKET_SECONDS, url } };
      },
    }),
  ];
}

export function buildWebSocketUrl(publicUrl: string): string {
  return `${publicUrl.replace(/^http/, 'ws')}${WEBSOCKET.path}`;
}
