import { z } from 'zod';
import { EVENT_KINDS } from '../channels.ts';
import { PUSHED_NAMES, type PushedName } from '../event-names.ts';
import { ENVELOPE, PAYLOADS } from '../events/payloads.ts';
import { type ExampleOptions, exampleView } from './example-events.ts';
import { type JsonSchema, jsonSchemaOf } from './json-schema.ts';
import type { MessageExample, MessageObject } from './message.ts';

/** `data` of each event, by its kind. */
export function payloadSchemas(): Record<PushedName, JsonSchema> {
  return byName((type) => ({ ...jsonSchemaOf(PAYLOADS[type]), description: EVENT_KINDS[type].meaning }));
}

/** The events, as they come over the socket and in the body of a delivery. */
export function eventMessages(options: ExampleOptions): Record<PushedName, MessageObject> {
  return byName((type) => {
    const { meaning, frequency } = EVENT_KINDS[type];
    return {
      name: type,
      title: meaning,
      summary: `${meaning}: ${frequency}`,
      contentType: 'application/json',
      payload: envelopeOf(type),
      examples: examplesOf(type, options),
    };
  });
}

/** The envelope around the data of a kind. */
function envelopeOf(type: PushedName): JsonSchema {
  const envelope = z.object({ ...ENVELOPE, type: z.literal(type).describe(ENVELOPE.type.description!) });
  const { properties, required, ...rest } = jsonSchemaOf(envelope) as { properties: object; required: string[] };
  const data = { $ref: `#/components/schemas/${type}` };
  return { ...rest, properties: { ...properties, data }, required: [...required, 'data'] };
}

/** What Basic is told, and where Premium is told more, that too. */
function examplesOf(type: PushedName, options: ExampleOptions): MessageExample[] {
  const [basic, premium] = (['basic', 'premium'] as const).map((tier) => exampleView(type, tier, options));
  if (JSON.stringify(basic) === JSON.stringify(premium)) return [{ name: 'everybody', payload: basic }];
  return [
    { name: 'basic', summary: 'What the Basic tier is told', payload: basic },
    { name: 'premium', summary: 'What the Premium tier is told', payload: premium },
  ];
}

function byName<Value>(value: (type: PushedName) => Value): Record<PushedName, Value> {
  return Object.fromEntries(PUSHED_NAMES.map((type) => [type, value(type)])) as Record<PushedName, Value>;
}
