import type { StandardSchemaWithJSON } from '@modelcontextprotocol/server';
import type { z } from 'zod';
import { toSkillJsonSchema } from '../../../../skills/json-schema.ts';

type Fields = Record<string, unknown>;
type Direction = 'input' | 'output';

/** Conversion costs more than an answer, and servers are made for each request. */
const jsonSchemaCache = { input: new WeakMap<z.ZodObject, Fields>(), output: new WeakMap<z.ZodObject, Fields>() };

function getListedJsonSchema(schema: z.ZodObject, io: Direction): Fields {
  const known = jsonSchemaCache[io].get(schema) ?? toSkillJsonSchema(schema, io);
  jsonSchemaCache[io].set(schema, known);
  return structuredClone(known);
}

function toStandardSchema(
  schema: z.ZodObject,
  validate: StandardSchemaWithJSON<Fields>['~standard']['validate'],
): StandardSchemaWithJSON<Fields> {
  const jsonSchema = { input: () => getListedJsonSchema(schema, 'input'), output: () => getListedJsonSchema(schema, 'output') };
  return { '~standard': { version: 1, vendor: 'bitcoin-signal-oracle', validate, jsonSchema } };
}

/** Input as a tool lists it. What comes is looked at where every door has it looked at, so that its errors are the same. */
export function toListedInput(schema: z.ZodObject): StandardSchemaWithJSON<Fields> {
  return toStandardSchema(schema, (value) => ({ value: value as Fields }));
}

/** Output as a tool lists it; nothing else leaves. */
export function toListedOutput(schema: z.ZodObject): StandardSchemaWithJSON<Fields> {
  return toStandardSchema(schema, (value) => {
    const { success, error } = schema.safeParse(value);
    return success ? { value: value as Fields } : { issues: error.issues.map(({ message, path }) => ({ message, path })) };
  });
}
