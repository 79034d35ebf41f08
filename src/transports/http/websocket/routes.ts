import { getCredentialId } from '../../../auth/caller.ts';
import { unauthenticated } from '../../../auth/tokens/access-tokens.ts';
import { WEBSOCKET } from '../../../events/channels.ts';
import { TICKET_SECONDS } from '../../../events/websocket/ticket-store.ts';
import { OracleError } from '../../../platform/errors.ts';
import type { HttpDeps } from '../deps.ts';
import { type Route, route } from '../server/route.ts';
import { HANDSHAKE_QUERY, TICKET_REPLY } from './schemas.ts';

/** Interface, section 6.1. */
export function webSocketRoutes({ publicUrl, tickets }: Pick<HttpDeps, 'publicUrl' | 'tickets'>): Route[] {
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
