import type { z } from 'zod';
import { unauthenticated } from '../../access/tokens.ts';
import { OracleError } from '../../errors.ts';
import { WEBSOCKET } from '../../push/channels.ts';
import { TICKET_SECONDS } from '../../push/websocket/tickets.ts';
import type { Caller } from '../../record/caller.ts';
import type { HttpParts } from '../parts.ts';
import { type Reply, type Route, route } from '../route.ts';
import { HANDSHAKE_QUERY, TICKET_REPLY } from '../schemas/websocket.ts';

/** Interface, section 6.1. */
export function webSocketRoutes(parts: HttpParts): Route[] {
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
        throw noHandshake(parts.publicUrl);
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
      handle: ({ caller }) => ticketReply(parts, caller),
    }),
  ];
}

async function ticketReply({ tickets, publicUrl }: HttpParts, { sessionId }: Caller): Promise<Reply<z.input<typeof TICKET_REPLY>>> {
  if (sessionId === undefined) throw unauthenticated('This needs an access token');
  const { ticket, expiresAt } = await tickets.issue(sessionId);
  const url = `${socketUrl(publicUrl)}?ticket=${ticket}`;
  return { body: { success: true, ticket, expiresAt: expiresAt.toISOString(), expires_in: TICKET_SECONDS, url } };
}

/** Where WebSockets are opened. */
export function socketUrl(publicUrl: string): string {
  return `${publicUrl.replace(/^http/, 'ws')}${WEBSOCKET.path}`;
}

function noHandshake(publicUrl: string): OracleError {
  return new OracleError('UPGRADE_REQUIRED', 'This is no handshake of a WebSocket', {
    suggestedAction: `Connect to ${socketUrl(publicUrl)} with a WebSocket client.`,
  });
}
