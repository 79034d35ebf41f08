import { z } from 'zod';
import { withSingleTypes } from './single-types.ts';

/**
 * JSON Schema (draft 2020-12) of a skill's input or output, with single types. Drops the pattern of a format and the bounds of safe
 * integers, which would be most of the text and say nothing further.
 */
export function toSkillJsonSchema(schema: z.ZodObject, io: 'input' | 'output'): Record<string, unknown> {
  const {
    $schema: _,
    '~standard': __,
    ...rest
  } = z.toJSONSchema(schema, { io, target: 'draft-2020-12', override: removeRedundantKeywords }) as Record<string, unknown>;
  return withSingleTypes(rest);
}

function removeRedundantKeywords({ jsonSchema }: { jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  if (jsonSchema.format !== undefined) delete jsonSchema.pattern;
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
}
