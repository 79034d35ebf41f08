import type { StandardSchemaWithJSON } from '@modelcontextprotocol/server';
import type { z } from 'zod';
import { jsonSchemaOf } from '../../skills/json-schema.ts';

type Fields = Record<string, unknown>;
type Direction = 'input' | 'output';

/** Conversion costs more than an answer, and servers are made for each request. */
const converted = { input: new WeakMap<z.ZodObject, Fields>(), output: new WeakMap<z.ZodObject, Fields>() };

function listedJson(schema: z.ZodObject, io: Direction): Fields {
  const known = converted[io].get(schema) ?? jsonSchemaOf(schema, io);
  converted[io].set(schema, known);
  return structuredClone(known);
}

function listed(schema: z.ZodObject, validate: StandardSchemaWithJSON<Fields>['~standard']['validate']): StandardSchemaWithJSON<Fields> {
  const jsonSchema = { input: () => listedJson(schema, 'input'), output: () => listedJson(schema, 'output') };
  return { '~standard': { version: 1, vendor: 'bitcoin-signal-oracle', validate, jsonSchema } };
}

/** Input as a tool lists it. What comes is looked at where every door has it looked at, so that its errors are the same. */
export function listedInput(schema: z.ZodObject): StandardSchemaWithJSON<Fields> {
  return listed(schema, (value) => ({ value: value as Fields }));
}

/** Output as a tool lists it; nothing else leaves. */
export function listedOutput(schema: z.ZodObject): StandardSchemaWithJSON<Fields> {
  return listed(schema, (value) => {
    const { success, error } = schema.safeParse(value);
    return success ? { value: value as Fields } : { issues: error.issues.map(({ message, path }) => ({ message, path })) };
  });
}
