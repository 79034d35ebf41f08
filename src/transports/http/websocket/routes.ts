import type { z } from 'zod';
import type { Caller } from '../../../auth/caller.ts';
import { unauthenticated } from '../../../auth/tokens/access-tokens.ts';
import { WEBSOCKET } from '../../../events/channels.ts';
import { TICKET_SECONDS } from '../../../events/websocket/ticket-store.ts';
import { OracleError } from '../../../platform/errors.ts';
import type { HttpDeps } from '../deps.ts';
import { type Reply, type Route, route } from '../server/route.ts';
import { HANDSHAKE_QUERY, TICKET_REPLY } from './schemas.ts';

/** Interface, section 6.1. */
export function webSocketRoutes(deps: Pick<HttpDeps, 'publicUrl' | 'tickets'>): Route[] {
  return [
    route({
      path: WEBSOCKET.path,
      name: 'openWebSocket',
      tag: 'signal',
      access: 'basic',
      isWebSocket: true,
      summary: 'Opens a WebSocket that events are sent over as they happen',
      description: `A handshake of RFC 6455; what is none is answered with 426. Browsers cannot send \`Authorization\`, and a token in a URL can end up in logs on the way: \`POST /api/svc/ws/ticket\` gives them a \`ticket\`. A wallet can have ${WEBSOCKET.connectionsPerWallet} connections at a time. Pages of any origin may connect; cookies are not read.`,
      query: HANDSHAKE_QUERY,
      status: 101,
      reply: null,
      otherReplies: { 200: { description: 'The same where a proxy in front of the service speaks HTTP/2 (RFC 8441, section 5)' } },
      errors: ['UPGRADE_REQUIRED'],
      handle: () => {
        throw buildUpgradeRequiredError(deps.publicUrl);
      },
    }),
    route({
      method: 'post',
      path: '/api/svc/ws/ticket',
      name: 'issueWebSocketTicket',
      tag: 'signal',
      access: 'basic',
      summary: `Ticket that opens one WebSocket within ${TICKET_SECONDS} seconds, instead of a token in its URL`,
      reply: TICKET_REPLY,
      handle: ({ caller }) => issueTicket(deps, caller),
    }),
  ];
}

async function issueTicket(
  { tickets, publicUrl }: Pick<HttpDeps, 'publicUrl' | 'tickets'>,
  { sessionId }: Caller,
): Promise<Reply<z.input<typeof TICKET_REPLY>>> {
  if (sessionId === undefined) throw unauthenticated('This needs an access token');
  const { ticket, expiresAt } = await tickets.issue(sessionId);
  const url = `${buildWebSocketUrl(publicUrl)}?ticket=${ticket}`;
  return { body: { success: true, ticket, expiresAt: expiresAt.toISOString(), expires_in: TICKET_SECONDS, url } };
}

export function buildWebSocketUrl(publicUrl: string): string {
  return `${publicUrl.replace(/^http/, 'ws')}${WEBSOCKET.path}`;
}

function buildUpgradeRequiredError(publicUrl: string): OracleError {
  return new OracleError('UPGRADE_REQUIRED', 'This is no handshake of a WebSocket', {
    suggestedAction: `Connect to ${buildWebSocketUrl(publicUrl)} with a WebSocket client.`,
  });
}
