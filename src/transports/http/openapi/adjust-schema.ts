import type { ZodOpenApiOverride } from 'zod-openapi';
import { getInputRules } from '../../../platform/validation/input-rules.ts';
import { findConstantName } from './components/schema-constants.ts';
import { NAME_TAG, type OpenApiSchema } from './components/subschemas.ts';

export const adjustSchema: ZodOpenApiOverride = ({ zodSchema, jsonSchema, io }) => {
  const { def } = zodSchema._zod;
  const schema = jsonSchema as OpenApiSchema;
  // Replies may gain fields within a version: clients must ignore unknown ones.
  if (io === 'output' && def.type === 'object' && def.catchall === undefined) delete schema.additionalProperties;
  // The safe-integer bounds of a reply are noise; of a request they are validated.
  if (io === 'output' && schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (io === 'output' && schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  // `format` is sufficient to parse a reply.
  if (io === 'output' && isTime(schema)) delete schema.pattern;
  if (io === 'input') Object.assign(schema, getInputRules(zodSchema));
  const name = findConstantName(zodSchema);
  if (name !== undefined) schema[NAME_TAG] = name;
};

function isTime({ format }: OpenApiSchema): boolean {
  return format === 'date-time' || format === 'date';
}
