import { z } from 'zod';
import { OracleError } from '../errors.ts';

/** Building blocks of response fields. Each use adds its description last, on the outermost schema. */

/** ISO 8601 date and time, UTC. */
export const TIME = z.iso.datetime();
/** `YYYY-MM-DD`, UTC. */
export const DATE = z.iso.date();
/** 32 bytes as hex, such as a transaction hash or an attestation uid. */
export const BYTES32 = z.string().regex(/^0x[0-9a-fA-F]{64}$/);
export const ADDRESS = z.string().regex(/^0x[0-9a-fA-F]{40}$/);
/** A probability or a share, 0 to 1. */
export const PROBABILITY = z.number().min(0).max(1);
export const COUNT = z.int().min(0);
/** An amount in the asset's smallest unit, or wei, as decimal digits: it may exceed a JSON number. */
export const INTEGER_TEXT = z.string().regex(/^\d+$/);
/** A non-negative exact decimal. */
export const DECIMAL = z.string().regex(/^\d+(\.\d+)?$/);
/** Bytes of any length, lower case. */
export const HEX = z.string().regex(/^0x[0-9a-f]+$/);
/** The first field of every success response. */
export const SUCCESS = z.literal(true).describe('Always true; what fails is answered with problem details, where it is false');

type Shape = z.core.$ZodLooseShape;

/** Described schemas of objects and of lists of objects. */

export const objectOf = <S extends Shape>(description: string, shape: S) => z.object(shape).describe(description);

export const nullableObjectOf = <S extends Shape>(description: string, shape: S) => z.object(shape).nullable().describe(description);

export const listOf = <S extends Shape>(description: string, shape: S) => z.array(z.object(shape)).describe(description);

/** An object with a schema for each of these keys. */
export const keyedObject = <Key extends string, Schema extends z.ZodType>(keys: readonly Key[], schema: (key: Key) => Schema) =>
  z.object(Object.fromEntries(keys.map((key) => [key, schema(key)])) as Record<Key, Schema>);

/** Rounds half up to a number of decimals. */
export function roundTo(value: number, decimals: number): number {
  const unit = 10 ** decimals;
  return Math.round(value * unit) / unit;
}

interface InputLabels {
  /** Name of a field's kind, e.g. `query parameter`. */
  kind: string;
  /** Name of the field for errors of the whole value. */
  root: string;
}

/** Parses external input. @throws OracleError INPUT_INVALID naming the first invalid field */
export function parseInput<Schema extends z.ZodType>(schema: Schema, value: unknown, { kind, root }: InputLabels): z.output<Schema> {
  const parsed = schema.safeParse(value, { error: formatIssue });
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const unknownKey = issue?.code === 'unrecognized_keys' ? issue.keys[0] : undefined;
  const field = truncateField(issue?.path.length ? issue.path.join('.') : (unknownKey ?? root));
  throw new OracleError('INPUT_INVALID', `${kind} "${field}": ${issue?.message ?? 'not valid'}`, { field });
}

/** The known name that this one misspells: within two edits, one for a name of four letters, none for a shorter one. */
export function findMisspelledName(name: string, known: readonly string[]): string | undefined {
  const near = known.flatMap((candidate) => {
    const most = candidate.length > 4 ? 2 : candidate.length - 3;
    if (Math.abs(candidate.length - name.length) > most) return [];
    const distance = computeDistance(name, candidate);
    return distance <= most ? [{ candidate, distance }] : [];
  });
  return near.toSorted((a, b) => a.distance - b.distance)[0]?.candidate;
}

/** Insertions, deletions, substitutions and transpositions of neighbours (optimal string alignment). */
export function computeDistance(a: string, b: string): number {
  const rows = [Array.from({ length: b.length + 1 }, (_, column) => column)];
  for (let i = 1; i <= a.length; i++) {
    rows[i] = [i];
    for (let j = 1; j <= b.length; j++) {
      const changed = rows[i - 1][j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1);
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? rows[i - 2][j - 2] + 1 : changed;
      rows[i][j] = Math.min(rows[i - 1][j] + 1, rows[i][j - 1] + 1, changed, swapped);
    }
  }
  return rows[a.length][b.length];
}

/** Messages for schemas without their own. */
const formatIssue: z.core.$ZodErrorMap = (issue) => {
  if (issue.code === 'invalid_type') return issue.input === undefined ? 'is missing' : `must be of the type ${issue.expected}`;
  return issue.code === 'unrecognized_keys' ? 'is not known here' : undefined;
};

/** Field names may come from the client, at any length. */
function truncateField(field: string): string {
  return field.length > 100 ? `${field.slice(0, 100)}...` : field;
}

/** Whether a JSON value is an object, neither array nor null. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The metadata of schemas without their ids. */
class MetadataWithoutIds extends z.core.$ZodRegistry<Record<string, unknown>> {
  override get(schema: z.core.$ZodType): Record<string, unknown> | undefined {
    const { id: _, ...metadata } = z.globalRegistry.get(schema) ?? {};
    return metadata;
  }
}

const METADATA = new MetadataWithoutIds();

/**
 * JSON Schema that stands alone, without `$schema`. An id names a component of the OpenAPI document: zod would write a reference for each
 * schema that has one, the root included.
 */
export function toInlineJsonSchema(
  schema: z.ZodType,
  params: Omit<z.core.ToJSONSchemaParams, 'metadata'> = {},
): z.core.JSONSchema.BaseSchema {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { ...params, metadata: METADATA as z.core.$ZodRegistry<Record<string, unknown>> });
  return rest;
}

/** Apart from zod's metadata, which MCP tools and the agent card publish: model providers reject composition keywords there. */
const INPUT_RULES = z.registry<Record<string, unknown>>();

/** Adds JSON Schema (2020-12) keywords to an input in the API reference; the schema itself is unchanged. */
export function withInputRules<T extends z.ZodType>(schema: T, rules: Record<string, unknown>): T {
  INPUT_RULES.add(schema, rules);
  return schema;
}

/** An object that the OpenAPI document has once, under this name. */
export const namedObject = <S extends z.core.$ZodLooseShape>(id: string, shape: S) => z.object(shape).meta({ id });

/** The keywords of a schema or of its parents, from which `describe` derives it. */
export function getInputRules(schema: z.core.$ZodType): Record<string, unknown> | undefined {
  for (let ancestor: z.core.$ZodType | undefined = schema; ancestor !== undefined; ancestor = ancestor._zod.parent) {
    const rules = INPUT_RULES.get(ancestor as z.ZodType);
    if (rules !== undefined) return rules;
  }
  return undefined;
}

export function parseJsonOrNull(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Whether objects and arrays nest deeper than `levels`. Iterative: no depth overflows the stack. */
export function isNestedDeeper(value: unknown, levels: number): boolean {
  let layer = [value].filter(isObjectOrArray);
  for (let depth = 0; depth < levels && layer.length > 0; depth++)
    layer = layer.flatMap((one) => Object.values(one)).filter(isObjectOrArray);
  return layer.length > 0;
}

/** Whether every string of a JSON value, names of members included, is Unicode: an unpaired surrogate has no UTF-8, hence no digest and no storage. Recursive: the depth is checked before. */
export function isWellFormedJson(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed();
  return !isObjectOrArray(value) || Object.entries(value).every(([name, member]) => name.isWellFormed() && isWellFormedJson(member));
}

function isObjectOrArray(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** Characters other than letters, marks, digits and punctuation that no markup uses. */
const UNSAFE_CHARACTERS = /[^\p{L}\p{M}\p{N} .,:;%$?'()+/-]/gu;

/** Makes external text safe for a line of text, Markdown or HTML: no control or bidi characters, line breaks, markup or links. */
export function sanitizeText(text: string, max: number): string {
  const plain = text
    .slice(0, 10 * max)
    .normalize('NFC')
    .replaceAll(UNSAFE_CHARACTERS, ' ')
    .replaceAll(/\/{2,}/g, ' ')
    .replaceAll(/www\./gi, 'www ')
    .replaceAll(/ +/g, ' ')
    .trim();
  const characters = [...plain];
  if (characters.length <= max) return plain;
  const kept = characters.slice(0, max - 1).join('');
  return `${kept.trimEnd()}…`;
}
