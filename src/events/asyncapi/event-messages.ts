import { z } from 'zod';
import { EVENT_KINDS } from '../channels.ts';
import { PUSHED_NAMES, type PushedName } from '../event-names.ts';
import { EVENT_ENVELOPE, PAYLOADS } from '../event-payloads.ts';
import { buildExampleView, type ExampleOptions } from './example-events.ts';
import { type AsyncApiSchema, toAsyncApiSchema } from './json-schema.ts';
import type { MessageExample, MessageObject } from './message-object.ts';

export function buildPayloadSchemas(): Record<PushedName, AsyncApiSchema> {
  return mapEventNames((type) => ({ ...toAsyncApiSchema(PAYLOADS[type]), description: EVENT_KINDS[type].meaning }));
}

export function buildEventMessages(options: ExampleOptions): Record<PushedName, MessageObject> {
  return mapEventNames((type) => {
    const { meaning, frequency } = EVENT_KINDS[type];
    return {
      name: type,
      title: meaning,
      summary: `${meaning}: ${frequency}`,
      contentType: 'application/json',
      payload: buildEnvelopeSchema(type),
      examples: buildExamples(type, options),
    };
  });
}

function buildEnvelopeSchema(type: PushedName): AsyncApiSchema {
  const envelope = z.object({ ...EVENT_ENVELOPE, type: z.literal(type).describe(EVENT_ENVELOPE.type.description!) });
  const { properties, required, ...rest } = toAsyncApiSchema(envelope) as { properties: object; required: string[] };
  const data = { $ref: `#/components/schemas/${type}` };
  return { ...rest, properties: { ...properties, data }, required: [...required, 'data'] };
}

/** One example, or one per tier if Premium receives more. */
function buildExamples(type: PushedName, options: ExampleOptions): MessageExample[] {
  const [basic, premium] = (['basic', 'premium'] as const).map((tier) => buildExampleView(type, tier, options));
  if (JSON.stringify(basic) === JSON.stringify(premium)) return [{ name: 'everybody', payload: basic }];
  return [
    { name: 'basic', summary: 'Payload for the Basic tier', payload: basic },
    { name: 'premium', summary: 'Payload for the Premium tier', payload: premium },
  ];
}

function mapEventNames<Value>(value: (type: PushedName) => Value): Record<PushedName, Value> {
  return Object.fromEntries(PUSHED_NAMES.map((type) => [type, value(type)])) as Record<PushedName, Value>;
}
