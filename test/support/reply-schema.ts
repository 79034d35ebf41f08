import { z } from 'zod';

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

/** What schemas were compiled to, by their text: the documents of two services say the same, and each is held against hundreds of answers. */
const parsers = new Map<string, z.ZodType>();
const texts = new WeakMap<object, string>();

function parserOf(schema: JsonSchema, components: Record<string, JsonSchema>): z.ZodType {
  const text = texts.get(components) ?? JSON.stringify(components);
  texts.set(components, text);
  const key = `${JSON.stringify(schema)} ${text}`;
  const parser =
    parsers.get(key) ?? z.fromJSONSchema(closing({ ...(schema as object), $defs: components }) as JsonSchema, { registry: z.registry() });
  parsers.set(key, parser);
  return parser;
}

/** The same by a zod schema of the reply. */
export function undocumented(schema: z.ZodType, value: unknown): string[] {
  return faults(z.toJSONSchema(schema, { io: 'output' }) as JsonSchema, value);
}

/** Keywords that hold a value and no schema, whatever it looks like. */
const VALUES = new Set(['const', 'enum', 'example', 'examples', 'required']);

/** A copy that allows no field beside those it names, and in which components are looked up where zod expects them. */
function closing(schema: unknown, key = ''): unknown {
  if (Array.isArray(schema)) return schema.map((item) => closing(item));
  if (typeof schema !== 'object' || schema === null || VALUES.has(key)) return schema;
  const { default: _, ...node } = schema as Record<string, unknown>;
  const named = key === 'properties' || key === '$defs';
  // Both halves of an `allOf` would have to be closed to each other's fields.
  if (!named && 'allOf' in node) throw new Error('allOf cannot be checked for undocumented fields');
  const copy = Object.fromEntries(Object.entries(named ? schema : node).map(([name, part]) => [name, closing(part, named ? '' : name)]));
  if (named) return copy;
  if (typeof copy.$ref === 'string') copy.$ref = copy.$ref.replace('#/components/schemas/', '#/$defs/');
  if (copy.type === 'object' && copy.properties !== undefined) copy.additionalProperties ??= false;
  return copy;
}

function linesOf(issue: z.core.$ZodIssue, above: PropertyKey[]): string[] {
  const path = [...above, ...issue.path];
  const where = path.length === 0 ? 'the answer' : path.map(String).join('.');
  if (issue.code !== 'invalid_union') return [`${where}: ${issue.message}`];
  // The branch with the fewest faults is the one that was meant.
  const [closest] = issue.errors.toSorted((a, b) => a.length - b.length);
  return closest === undefined ? [`${where}: ${issue.message}`] : closest.flatMap((inner) => linesOf(inner, path));
}
