import { z } from 'zod';
import { toInlineJsonSchema } from '../../../src/platform/validation.ts';

export type JsonSchema = z.core.JSONSchema.JSONSchema;

/**
 * What is wrong with a value by a JSON Schema (2020-12), one line a fault: what contradicts it, and fields that it does not speak of.
 * `components` are the schemas that `#/components/schemas/<name>` stands for. Throws for a schema that cannot be checked in full.
 */
export function faults(schema: JsonSchema, value: unknown, components: Record<string, JsonSchema> = NO_COMPONENTS): string[] {
  const parsed = parserOf(schema, components).safeParse(value);
  return parsed.success ? [] : parsed.error.issues.flatMap((issue) => linesOf(issue, []));
}

const NO_COMPONENTS: Record<string, JsonSchema> = {};

interface Compiled {
  /** The components in their closed form, as `$defs`. */
  closed: Record<string, unknown>;
  /** By the text of a schema. */
  parsers: Map<string, z.ZodType>;
}

/** By the text of components: the documents of two services are equal, and each is held against hundreds of responses. */
const compiled = new Map<string, Compiled>();
const byObject = new WeakMap<object, Compiled>();

function compiledFor(components: Record<string, JsonSchema>): Compiled {
  const known = byObject.get(components);
  if (known !== undefined) return known;
  const text = JSON.stringify(components);
  const found = compiled.get(text) ?? { closed: closing(components, components, '$defs') as Record<string, unknown>, parsers: new Map() };
  compiled.set(text, found);
  byObject.set(components, found);
  return found;
}

function parserOf(schema: JsonSchema, components: Record<string, JsonSchema>): z.ZodType {
  const { closed, parsers } = compiledFor(components);
  const key = JSON.stringify(schema);
  const parser =
    parsers.get(key) ??
    z.fromJSONSchema({ ...(closing(schema, components) as object), $defs: closed } as JsonSchema, { registry: z.registry() });
  parsers.set(key, parser);
  return parser;
}

/** The same by a zod schema of the reply. */
export function undocumented(schema: z.ZodType, value: unknown): string[] {
  return faults(toInlineJsonSchema(schema, { io: 'output' }) as JsonSchema, value);
}

/** Keywords that hold a value and no schema, whatever it looks like. */
const VALUES = new Set(['const', 'enum', 'example', 'examples', 'required']);

/** A copy that allows no field beside those it names, and in which components are looked up where zod expects them. */
function closing(schema: unknown, components: Record<string, JsonSchema>, key = ''): unknown {
  if (Array.isArray(schema)) return schema.map((item) => closing(item, components));
  if (typeof schema !== 'object' || schema === null || VALUES.has(key)) return schema;
  const named = key === 'properties' || key === '$defs';
  const { default: _, ...own } = schema as Record<string, unknown>;
  const node = named ? (schema as Record<string, unknown>) : merged(own, components);
  const copy = Object.fromEntries(Object.entries(node).map(([name, part]) => [name, closing(part, components, named ? '' : name)]));
  if (named) return copy;
  if (typeof copy.$ref === 'string') copy.$ref = copy.$ref.replace('#/components/schemas/', '#/$defs/');
  if (copy.type === 'object' && copy.properties !== undefined) copy.additionalProperties ??= false;
  return copy;
}

/** An object with the fields of those that it extends: each half of an `allOf` alone would be closed to the fields of the other. */
function merged(node: Record<string, unknown>, components: Record<string, JsonSchema>): Record<string, unknown> {
  const { allOf, ...own } = node;
  if (allOf === undefined) return node;
  const parts = (allOf as Record<string, unknown>[]).map((part) => {
    const { $ref } = part;
    const whole = typeof $ref === 'string' ? (components[$ref.split('/').at(-1)!] as Record<string, unknown>) : part;
    return merged(whole, components);
  });
  const all = [...parts, own];
  if (all.some(({ properties }) => properties === undefined)) throw new Error('allOf of anything but objects cannot be checked');
  return {
    ...own,
    properties: Object.assign({}, ...all.map(({ properties }) => properties)),
    required: all.flatMap(({ required }) => (required ?? []) as string[]),
  };
}

function linesOf(issue: z.core.$ZodIssue, above: PropertyKey[]): string[] {
  const path = [...above, ...issue.path];
  const where = path.length === 0 ? 'the answer' : path.map(String).join('.');
  if (issue.code !== 'invalid_union') return [`${where}: ${issue.message}`];
  // The branch with the fewest faults is the one that was meant.
  const [closest] = issue.errors.toSorted((a, b) => a.length - b.length);
  return closest === undefined ? [`${where}: ${issue.message}`] : closest.flatMap((inner) => linesOf(inner, path));
}
