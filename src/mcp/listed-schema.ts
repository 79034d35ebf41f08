import type { StandardSchemaWithJSON } from '@modelcontextprotocol/server';
import { z } from 'zod';

type Fields = Record<string, unknown>;
type Direction = 'input' | 'output';

/** Conversion costs more than an answer, and servers are made for each request. */
const converted = { input: new WeakMap<z.ZodObject, Fields>(), output: new WeakMap<z.ZodObject, Fields>() };

function jsonSchemaOf(schema: z.ZodObject, io: Direction): Fields {
  const known = converted[io].get(schema);
  if (known !== undefined) return structuredClone(known);
  const { '~standard': _, ...json } = z.toJSONSchema(schema, { io, target: 'draft-2020-12' }) as Fields;
  converted[io].set(schema, json);
  return structuredClone(json);
}

function listed(schema: z.ZodObject, validate: StandardSchemaWithJSON<Fields>['~standard']['validate']): StandardSchemaWithJSON<Fields> {
  const jsonSchema = { input: () => jsonSchemaOf(schema, 'input'), output: () => jsonSchemaOf(schema, 'output') };
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
