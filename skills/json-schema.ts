import { z } from 'zod';
import { withSingleTypes } from './single-type-schema.ts';

interface JsonSchemaOptions {
  /** `ref`: a schema that recurs stands once, in `$defs`. */
  reused?: 'inline' | 'ref';
}

/** JSON Schema (draft 2020-12) with single types, without patterns of formats and safe-integer bounds, which would be most of the text. */
export function toSkillJsonSchema(
  schema: z.ZodObject,
  io: 'input' | 'output',
  { reused = 'inline' }: JsonSchemaOptions = {},
): Record<string, unknown> {
  const {
    $schema: _,
    '~standard': __,
    ...rest
  } = z.toJSONSchema(schema, { io, target: 'draft-2020-12', reused, override: removeRedundantKeywords }) as Record<string, unknown>;
  return withSingleTypes(rest);
}

function removeRedundantKeywords({ jsonSchema }: { jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  if (jsonSchema.format !== undefined) delete jsonSchema.pattern;
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
}
