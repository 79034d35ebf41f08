import { PUSHED_NAMES, type PushedName } from '../event-names.ts';
import { buildMessageId } from '../webhooks/delivery/webhook-message.ts';
import { PING_MESSAGE } from '../webhooks/on-demand/ping-message.ts';
import { buildSignatureHeaders } from '../webhooks/signing/signature.ts';
import { buildExampleEvent, EXAMPLE_WEBHOOK } from './example-events.ts';
import { type AsyncApiSchema, toMessageSchema } from './json-schema.ts';
import type { MessageExample, MessageObject } from './message-object.ts';

export const DELIVERY_HEADERS: AsyncApiSchema = {
  type: 'object',
  required: ['webhook-id', 'webhook-timestamp', 'webhook-signature'],
  properties: {
    'webhook-id': {
      type: 'string',
      description: 'Id of the message, constant over all retries and replays of an event: use it to discard duplicates',
    },
    'webhook-timestamp': {
      type: 'string',
      pattern: '^[0-9]+$',
      description: 'Time of this attempt, Unix seconds; receivers reject timestamps more than 5 minutes off',
    },
    'webhook-signature': {
      type: 'string',
      pattern: '^v1,[A-Za-z0-9+/]+=*( v1,[A-Za-z0-9+/]+=*)?$',
      description:
        '`v1,` and base64 of HMAC-SHA256 over `<webhook-id>.<webhook-timestamp>.<body>`; two, separated by a space, during a secret rotation',
    },
    'content-type': { type: 'string', const: 'application/json', description: 'The body is JSON' },
  },
};

/** Signs only the examples. */
const EXAMPLE_SECRET = 'a secret for the examples only';
const TESTED_AT = new Date('2021-03-10T12:00:00.000Z');

export function buildDeliveryMessages(events: Readonly<Record<PushedName, MessageObject>>): MessageObject[] {
  return [...PUSHED_NAMES.map((type) => buildEventDelivery(type, events[type])), buildTestDelivery()];
}

function buildEventDelivery(type: PushedName, message: MessageObject): MessageObject {
  const { key, at } = buildExampleEvent(type);
  return withDeliveryHeaders({ ...message, examples: message.examples.map((example) => signExample(example, buildMessageId(key), at)) });
}

function buildTestDelivery(): MessageObject {
  const payload = { id: null, type: 'ping', timestamp: TESTED_AT.toISOString(), data: { webhookId: EXAMPLE_WEBHOOK } };
  return withDeliveryHeaders({
    name: 'ping',
    title: 'Test of a webhook',
    summary: 'Sent once on request of the owner: POST /api/svc/webhooks/{id}/test',
    contentType: 'application/json',
    payload: toMessageSchema(PING_MESSAGE),
    examples: [signExample({ payload }, 'ping_0c6f3d6f4b0e4a5f9a4f2a3c8f0d7e21', TESTED_AT)],
  });
}

function withDeliveryHeaders(message: MessageObject): MessageObject {
  return { ...message, headers: { $ref: '#/components/schemas/deliveryHeaders' } };
}

function signExample({ payload, ...example }: MessageExample, messageId: string, at: Date): MessageExample {
  const headers = buildSignatureHeaders({ messageId, at, body: JSON.stringify(payload) }, [EXAMPLE_SECRET]);
  return { ...example, headers: { 'content-type': 'application/json', ...headers }, payload };
}
