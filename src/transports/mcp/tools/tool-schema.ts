import type { StandardSchemaWithJSON } from '@modelcontextprotocol/server';
import type { z } from 'zod';
import { toSkillJsonSchema } from '../../../../skills/json-schema.ts';

type Fields = Record<string, unknown>;
type Direction = 'input' | 'output';

/** Cached because a server is built per request, and conversion costs more than an answer. */
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

/** Input schema for listing only: the skill runner validates, so that errors are the same over all transports. */
export function toListedInput(schema: z.ZodObject): StandardSchemaWithJSON<Fields> {
  return toStandardSchema(schema, (value) => ({ value: value as Fields }));
}

/** Output schema, which the SDK enforces on results. */
export function toListedOutput(schema: z.ZodObject): StandardSchemaWithJSON<Fields> {
  return toStandardSchema(schema, (value) => {
    const { success, error } = schema.safeParse(value);
    return success ? { value: value as Fields } : { issues: error.issues.map(({ message, path }) => ({ message, path })) };
  });
}
