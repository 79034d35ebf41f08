import { DAY_MS } from '../../forecast/day.ts';
import { WEBSOCKET } from '../channels.ts';
import { EVENT_RETENTION_DAYS } from '../log/event-log.ts';
import { WEBHOOK_CALL_TIMEOUT_MS } from '../webhooks/delivery/call-webhook.ts';
import { CHAT_NAMES } from '../webhooks/formats/webhook-formats.ts';
import { DISABLE_AFTER_FAILING_MS, MAX_DELIVERY_ATTEMPTS, RETRY_DELAYS_MS } from '../webhooks/retry/retry-schedule.ts';
import { CLOSE_CODES } from '../websocket/messages/close-codes.ts';
import type { AsyncApiSchema } from './json-schema.ts';

export const DELIVERY_SUFFIX = '.delivery';

const SOCKET_RULES = [
  `Requires a token of the Basic tier; at most ${WEBSOCKET.connectionsPerWallet} connections per wallet.`,
  `The server sends a ping frame every ${WEBSOCKET.pingSeconds} seconds, and disconnects a client that does not answer before the next one.`,
  `After a disconnect wait ${WEBSOCKET.reconnectSeconds} seconds, then reconnect with \`since\`: events are kept for ${EVENT_RETENTION_DAYS} days.`,
  'Errors before the connection opens are HTTP responses of `application/problem+json`.',
].join(' ');

const WEBHOOK_RULES = [
  'Registered with POST /api/svc/webhooks/register and a token of the Basic tier.',
  `A 2xx response within ${WEBHOOK_CALL_TIMEOUT_MS / 1_000} seconds accepts a message. Anything else, redirects included, causes a retry,`,
  `up to ${MAX_DELIVERY_ATTEMPTS} attempts, while later messages wait. 410 disables the webhook at once, continuous failures do after`,
  `${DISABLE_AFTER_FAILING_MS / DAY_MS} days. A webhook registered with \`format\` ${CHAT_NAMES.join(', ')} receives the same events as texts for that chat:`,
  'this document describes the bodies of format json.',
].join(' ');

const BEARER = { type: 'string', description: '`Bearer` and an access token; instead of `token` and `ticket`' };
const CONNECTION_HEADERS = { type: 'object', properties: { Authorization: BEARER } };

interface ChannelInputs {
  query: AsyncApiSchema;
  socket: readonly string[];
  deliveries: readonly string[];
}

export function buildChannels({ query, socket, deliveries }: ChannelInputs) {
  return {
    socket: {
      address: WEBSOCKET.path,
      title: 'Events over a WebSocket',
      summary: 'Each event once, in order, live and from where the client stopped',
      description: SOCKET_RULES,
      servers: [{ $ref: '#/servers/socket' }],
      messages: buildMessageRefs(socket, ''),
      bindings: { ws: { method: 'GET', query, headers: CONNECTION_HEADERS, bindingVersion: '0.1.0' } },
      'x-close-codes': Object.values(CLOSE_CODES).map(({ code, meaning }) => ({ code, meaning })),
    },
    webhook: {
      // The subscriber's URL.
      address: null,
      title: 'Events to a webhook',
      summary: 'Each event posted at least once, in order, signed according to Standard Webhooks',
      description: WEBHOOK_RULES,
      servers: [{ $ref: '#/servers/receiver' }],
      messages: buildMessageRefs(deliveries, DELIVERY_SUFFIX),
      'x-retry-after-seconds': RETRY_DELAYS_MS.map((ms) => ms / 1_000),
    },
  };
}

function buildMessageRefs(names: readonly string[], suffix: string): Record<string, { $ref: string }> {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/messages/${name}${suffix}` }]));
}
