import type { z } from 'zod';
import { buildChannels, DELIVERY_SUFFIX } from './channels.ts';
import { buildDeliveryMessages, DELIVERY_HEADERS } from './delivery-messages.ts';
import { buildEventMessages, buildPayloadSchemas } from './event-messages.ts';
import type { ExampleOptions } from './example-events.ts';
import { toAsyncApiSchema } from './json-schema.ts';
import type { MessageObject } from './message-object.ts';
import { buildOperations } from './operations.ts';
import { buildClientMessages, buildServerMessages } from './socket-messages.ts';

export interface AsyncApiOptions extends ExampleOptions {
  title: string;
  description: string;
  version: string;
  handshake: z.ZodObject;
}

export function buildAsyncApiDocument(options: AsyncApiOptions) {
  const events = buildEventMessages(options);
  const socket = [...Object.values(events), ...buildServerMessages(), ...buildClientMessages()];
  const deliveries = buildDeliveryMessages(events);
  return {
    asyncapi: '3.1.0',
    info: buildInfo(options),
    defaultContentType: 'application/json',
    servers: buildServers(options),
    channels: buildChannels({
      query: toAsyncApiSchema(options.handshake),
      socket: listMessageNames(socket),
      deliveries: listMessageNames(deliveries),
    }),
    operations: buildOperations(),
    components: {
      messages: { ...indexByName(socket, ''), ...indexByName(deliveries, DELIVERY_SUFFIX) },
      schemas: { ...buildPayloadSchemas(), deliveryHeaders: DELIVERY_HEADERS },
      securitySchemes: SECURITY_SCHEMES,
    },
  };
}

function buildInfo({ title, description, version, publicUrl }: AsyncApiOptions) {
  return {
    title: `${title}: events`,
    version,
    description: `${description}\n\n${EVENTS_DESCRIPTION}`,
    license: { name: 'MIT', url: 'https://opensource.org/license/mit' },
    externalDocs: { description: 'The HTTP interface: login, tickets, webhooks', url: `${publicUrl}/docs` },
    tags: [{ name: 'events', description: 'Pushed events' }],
  };
}

const EVENTS_DESCRIPTION = [
  'All events are in one log: `id` increases by one per event and is the same on every channel.',
  'A WebSocket delivers each event once, in order; after a disconnect, `since` resumes.',
  'A webhook receives each event at least once, in order, always with the same `webhook-id`.',
  'By default a subscriber receives the 7-day horizon: one `signal.new` and one `attestation.created` of type `prediction` a day,',
  'and at most one resolution. `horizon=2d`, `horizons=2d,7d` and `horizons=all` receive others; events without a horizon are always sent.',
  'Payloads may gain fields: ignore those you do not know.',
].join(' ');

function buildServers({ publicUrl }: AsyncApiOptions) {
  const { host, protocol, pathname } = new URL(publicUrl);
  const path = pathname.replace(/\/+$/, '');
  return {
    socket: {
      host,
      ...(path === '' ? {} : { pathname: path }),
      protocol: protocol === 'https:' ? 'wss' : 'ws',
      protocolVersion: '13',
      title: 'The service',
      description: 'WebSocket endpoint',
      security: ['bearer', 'token', 'ticket'].map((name) => ({ $ref: `#/components/securitySchemes/${name}` })),
    },
    receiver: {
      host: '{receiver}',
      protocol: 'https',
      title: 'A receiver',
      description: 'Host of a registered URL',
      variables: { receiver: { description: 'Host of the webhook, on the public internet', examples: ['bot.example'] } },
    },
  };
}

const SECURITY_SCHEMES = {
  bearer: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description: 'Token from POST /api/svc/oracle/verify; it lasts 30 minutes.',
  },
  token: { type: 'httpApiKey', in: 'query', name: 'token', description: 'The same token, for clients that cannot send headers.' },
  ticket: { type: 'httpApiKey', in: 'query', name: 'ticket', description: 'From POST /api/svc/ws/ticket; valid for one connection.' },
} as const;

const listMessageNames = (messages: readonly MessageObject[]) => messages.map(({ name }) => name);

function indexByName(messages: readonly MessageObject[], suffix: string): Record<string, MessageObject> {
  return Object.fromEntries(messages.map((message) => [`${message.name}${suffix}`, message]));
}
