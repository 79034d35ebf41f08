import { NAME_TAG } from './name-tag.ts';
import type { OpenApiSchema } from './subschemas.ts';

/** `type: [integer, null]` in place of two alternatives: keywords of one type say nothing of values of another. */
export function mergeNull(schema: OpenApiSchema): OpenApiSchema {
  const { anyOf, ...rest } = schema;
  const [inner, other, ...more] = (anyOf ?? []) as OpenApiSchema[];
  const isNullable = other?.type === 'null' && more.length === 0;
  return isNullable && isPlain(inner!) ? { ...inner, ...rest, type: [inner!.type, 'null'] } : schema;
}

/** Keywords that hold for values of any type, or that name a schema. */
const UNMERGEABLE = ['enum', 'const', '$ref', 'anyOf', 'oneOf', 'allOf', 'not', 'properties', NAME_TAG];

function isPlain(schema: OpenApiSchema): boolean {
  return typeof schema.type === 'string' && UNMERGEABLE.every((keyword) => !(keyword in schema));
}
