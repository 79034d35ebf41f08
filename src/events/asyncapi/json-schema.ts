import { z } from 'zod';

/** A JSON Schema as AsyncAPI takes it: a superset of draft 7. */
export type AsyncApiSchema = Readonly<Record<string, unknown>>;

/** What a reader may rely on, as JSON Schema of draft 7. Objects may gain fields: a reader has to ignore those that it does not know. */
export function toAsyncApiSchema(schema: z.ZodType): AsyncApiSchema {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { target: 'draft-7', io: 'input', override: removeIntegerBounds });
  return rest;
}

/** A whole message, of which `data` is the part that says something. */
export function toMessageSchema(schema: z.ZodType): AsyncApiSchema {
  const { properties, ...rest } = toAsyncApiSchema(schema) as { properties: Record<string, object> };
  return { ...rest, properties: { ...properties, data: { description: 'What it says', ...properties.data } } };
}

/** That every whole number fits a double says nothing. */
function removeIntegerBounds({ jsonSchema }: { jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
}
