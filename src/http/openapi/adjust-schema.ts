import type { ZodOpenApiOverride } from 'zod-openapi';
import { inputRulesOf } from '../../input-rules.ts';
import { constantNameOf } from './components/schema-constants.ts';
import { NAME_TAG } from './components/schema-graph.ts';
import type { JsonSchema } from './components/subschemas.ts';

/** What zod-openapi writes, in the form that the reference serves. Subschemas come before the schemas that use them. */
export const adjustSchema: ZodOpenApiOverride = ({ zodSchema, jsonSchema, io }) => {
  const { def } = zodSchema._zod;
  const schema = jsonSchema as JsonSchema;
  // Answers may gain fields without becoming another version: a reader has to ignore those that it does not know.
  if (io === 'output' && def.type === 'object' && def.catchall === undefined) delete schema.additionalProperties;
  // That every number fits a double says nothing.
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  // The format of a time in an answer is enough to read it.
  if (io === 'output' && isTime(schema)) delete schema.pattern;
  if (io === 'input') Object.assign(schema, inputRulesOf(zodSchema));
  if (def.type === 'nullable') mergeNull(schema);
  const name = constantNameOf(zodSchema);
  if (name !== undefined) schema[NAME_TAG] = name;
};

function isTime({ format }: JsonSchema): boolean {
  return format === 'date-time' || format === 'date';
}

/** `type: [integer, null]` in place of two alternatives: keywords of one type say nothing of values of another. */
function mergeNull(schema: JsonSchema): void {
  const { anyOf, ...rest } = schema;
  const [inner] = (anyOf ?? []) as JsonSchema[];
  if (inner === undefined || !isPlain(inner)) return;
  delete schema.anyOf;
  Object.assign(schema, { ...inner, ...rest, type: [inner.type, 'null'] });
}

/** Keywords that hold for values of any type, or that name a schema. */
const UNMERGEABLE = ['enum', 'const', '$ref', 'anyOf', 'oneOf', 'allOf', 'not', 'properties', NAME_TAG];

function isPlain(schema: JsonSchema): boolean {
  return typeof schema.type === 'string' && UNMERGEABLE.every((keyword) => !(keyword in schema));
}
