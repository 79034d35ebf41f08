import { PUSHED_NAMES, type PushedName } from '../event-names.ts';
import { messageIdOf } from '../webhooks/message.ts';
import { PING_MESSAGE } from '../webhooks/ping.ts';
import { signatureHeaders } from '../webhooks/signature.ts';
import { EXAMPLE_WEBHOOK, exampleEvent } from './example-events.ts';
import { type JsonSchema, messageSchemaOf } from './json-schema.ts';
import type { MessageExample, MessageObject } from './message.ts';

/** The headers of a delivery: those of Standard Webhooks. */
export const DELIVERY_HEADERS: JsonSchema = {
  type: 'object',
  required: ['webhook-id', 'webhook-timestamp', 'webhook-signature'],
  properties: {
    'webhook-id': {
      type: 'string',
      description: 'Id of the message: the same for the same event however often it is sent, so that a receiver can tell what it has',
    },
    'webhook-timestamp': {
      type: 'string',
      pattern: '^[0-9]+$',
      description: 'When this attempt was sent, Unix time in seconds; a receiver refuses what is more than 5 minutes off',
    },
    'webhook-signature': {
      type: 'string',
      pattern: '^v1,[A-Za-z0-9+/]+=*( v1,[A-Za-z0-9+/]+=*)?$',
      description:
        '`v1,` and base64 of HMAC-SHA256 over `<webhook-id>.<webhook-timestamp>.<body>`; two of them, separated by a space, while a secret is changed',
    },
    'content-type': { type: 'string', const: 'application/json', description: 'The body is JSON' },
  },
};

/** The secret of the examples, which signs nothing else. */
const EXAMPLE_SECRET = 'a secret for the examples, of nobody';

const TESTED_AT = new Date('2021-03-10T12:00:00.000Z');

/** What is posted: the events and the test, each with its headers. */
export function deliveryMessages(events: Readonly<Record<PushedName, MessageObject>>): MessageObject[] {
  return [...PUSHED_NAMES.map((type) => eventDelivery(type, events[type])), testDelivery()];
}

function eventDelivery(type: PushedName, message: MessageObject): MessageObject {
  const { key, at } = exampleEvent(type);
  return delivery({ ...message, examples: message.examples.map((example) => signed(example, messageIdOf(key), at)) });
}

function testDelivery(): MessageObject {
  const payload = { id: null, type: 'ping', timestamp: TESTED_AT.toISOString(), data: { webhookId: EXAMPLE_WEBHOOK } };
  return delivery({
    name: 'ping',
    title: 'Test of a webhook',
    summary: 'Sent once when its owner asks for it: POST /api/svc/webhooks/{id}/test',
    contentType: 'application/json',
    payload: messageSchemaOf(PING_MESSAGE),
    examples: [signed({ payload }, 'ping_0c6f3d6f4b0e4a5f9a4f2a3c8f0d7e21', TESTED_AT)],
  });
}

function delivery(message: MessageObject): MessageObject {
  return { ...message, headers: { $ref: '#/components/schemas/deliveryHeaders' } };
}

/** The signature is that of the example's own body. */
function signed({ payload, ...example }: MessageExample, messageId: string, at: Date): MessageExample {
  const headers = signatureHeaders({ messageId, at, body: JSON.stringify(payload) }, [EXAMPLE_SECRET]);
  return { ...example, headers: { 'content-type': 'application/json', ...headers }, payload };
}
