import type { ZodOpenApiOverride } from 'zod-openapi';
import { getInputRules } from '../../../platform/validation/input-rules.ts';
import { findConstantName } from './components/schema-constants.ts';
import { NAME_TAG, type OpenApiSchema } from './components/subschemas.ts';

/** What zod-openapi writes, in the form that the reference serves. */
export const adjustSchema: ZodOpenApiOverride = ({ zodSchema, jsonSchema, io }) => {
  const { def } = zodSchema._zod;
  const schema = jsonSchema as OpenApiSchema;
  // Answers may gain fields without becoming another version: a reader has to ignore those that it does not know.
  if (io === 'output' && def.type === 'object' && def.catchall === undefined) delete schema.additionalProperties;
  // That every number of an answer fits a double says nothing; of a request it is checked.
  if (io === 'output' && schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (io === 'output' && schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  // The format of a time in an answer is enough to read it.
  if (io === 'output' && isTime(schema)) delete schema.pattern;
  if (io === 'input') Object.assign(schema, getInputRules(zodSchema));
  const name = findConstantName(zodSchema);
  if (name !== undefined) schema[NAME_TAG] = name;
};

function isTime({ format }: OpenApiSchema): boolean {
  return format === 'date-time' || format === 'date';
}
