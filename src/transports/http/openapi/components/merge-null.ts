import { NAME_TAG, type OpenApiSchema } from './subschemas.ts';

/** Rewrites `anyOf` of a schema and null to `type: [..., null]`: keywords of one type do not apply to values of another. */
export function mergeNull(schema: OpenApiSchema): OpenApiSchema {
  const { anyOf, ...rest } = schema;
  const [inner, other, ...more] = (anyOf ?? []) as OpenApiSchema[];
  const isNullable = other?.type === 'null' && more.length === 0;
  return isNullable && isPlain(inner!) ? { ...inner, ...rest, type: [inner!.type, 'null'] } : schema;
}

/** Keywords that apply to values of any type, or that name a schema. */
const UNMERGEABLE = ['enum', 'const', '$ref', 'anyOf', 'oneOf', 'allOf', 'not', 'properties', NAME_TAG];

function isPlain(schema: OpenApiSchema): boolean {
  return typeof schema.type === 'string' && UNMERGEABLE.every((keyword) => !(keyword in schema));
}
