import { z } from 'zod';
import { withSingleTypes } from './single-types.ts';

/**
 * JSON Schema (draft 2020-12) of a skill's input or output, as it goes over a wire. A format stands for itself: the patterns that spell
 * dates out would be most of the text, and that every number fits a double says nothing. Each schema has one type.
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
