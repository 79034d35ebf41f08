import { z } from 'zod';

/** A JSON Schema for AsyncAPI, a superset of draft 7. */
export type AsyncApiSchema = Readonly<Record<string, unknown>>;

/** JSON Schema of draft 7. Objects are open: receivers must ignore unknown fields. */
export function toAsyncApiSchema(schema: z.ZodType): AsyncApiSchema {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { target: 'draft-7', io: 'input', override: removeIntegerBounds });
  return rest;
}

export function toMessageSchema(schema: z.ZodType): AsyncApiSchema {
  const { properties, ...rest } = toAsyncApiSchema(schema) as { properties: Record<string, object> };
  return { ...rest, properties: { ...properties, data: { description: 'What it says', ...properties.data } } };
}

/** Bounds of safe integers carry no information. */
function removeIntegerBounds({ jsonSchema }: { jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
}
