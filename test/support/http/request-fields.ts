import fc from 'fast-check';
import type { z } from 'zod';
import type { Route } from '../../../src/http/route.ts';
import { toInlineJsonSchema } from '../../../src/platform/validation.ts';

type Place = 'path' | 'query' | 'body';

/** One field of a request, as its operation declares it. */
export interface RequestField {
  route: Route;
  place: Place;
  name: string;
  required: boolean;
  schema: z.ZodType;
  /** `operation.field`. */
  label: string;
}

/** A request without its token. */
export interface RequestParts {
  params: Record<string, string>;
  query: string;
  body: Record<string, unknown> | undefined;
}

const PLACES = { path: 'params', query: 'query', body: 'body' } as const;

/** Every field of every operation. */
export function fieldsOf(routes: readonly Route[]): RequestField[] {
  return routes.flatMap((route) =>
    (Object.keys(PLACES) as Place[]).flatMap((place) =>
      Object.entries(route[PLACES[place]]?.shape ?? {}).map(([name, type]) => {
        const schema = type as z.ZodType;
        return { route, place, name, required: !schema.safeParse(undefined).success, schema, label: `${route.name}.${name}` };
      }),
    ),
  );
}

type Schema = z.core.JSONSchema.BaseSchema;

/** Values that a schema takes, as they are sent. */
export function valid(schema: z.ZodType): fc.Arbitrary<unknown> {
  const taken = (value: unknown) => schema.safeParse(value).success;
  return (
    fromJson(toInlineJsonSchema(schema, { io: 'input', unrepresentable: 'any' }) as Schema)
      // Of an address in mixed case the checksum would have to hold.
      .map((value) => (typeof value === 'string' && !taken(value) ? value.toLowerCase() : value))
      .filter(taken)
  );
}

const someDate = fc.date({ min: new Date(0), max: new Date('2999-12-31'), noInvalidDate: true });

const FORMATS: Record<string, fc.Arbitrary<string>> = {
  uuid: fc.uuid(),
  date: someDate.map((date) => date.toISOString().slice(0, 10)),
  'date-time': someDate.map((date) => date.toISOString()),
};

function fromJson(schema: Schema): fc.Arbitrary<unknown> {
  const { type, format, pattern, enum: options, anyOf } = schema;
  if ('const' in schema) return fc.constant(schema.const);
  if (options !== undefined) return fc.constantFrom(...options);
  if (anyOf !== undefined) return fc.oneof(...anyOf.map((branch) => fromJson(branch as Schema)));
  if (format !== undefined && format in FORMATS) return FORMATS[format];
  if (pattern !== undefined) return fc.stringMatching(new RegExp(pattern)).map((text) => text.slice(0, schema.maxLength));
  if (type === 'string') return fc.string({ minLength: schema.minLength, maxLength: schema.maxLength });
  if (type === 'integer' || type === 'number') return fc.integer({ min: schema.minimum, max: Math.min(schema.maximum ?? 1e9, 1e9) });
  if (type === 'boolean') return fc.boolean();
  if (type === 'null') return fc.constant(null);
  // Of names that are not declared here: what they mean is said elsewhere.
  if (type === 'object') return fc.constant({});
  if (type === 'array') {
    const { items, minItems, maxItems } = schema;
    return fc.uniqueArray(fromJson(items as Schema), { minLength: minItems, maxLength: maxItems });
  }
  throw new Error(`no values are known for ${JSON.stringify(schema)}`);
}

const samples = new WeakMap<Route, RequestParts>();

/** A request in which every required field is as declared; the same each time. */
export function sampleRequest(route: Route): RequestParts {
  const sample = samples.get(route) ?? makeSample(route);
  samples.set(route, sample);
  return sample;
}

function makeSample({ params, query, body }: Route): RequestParts {
  const values = (shape: z.ZodRawShape = {}) =>
    Object.fromEntries(
      Object.entries(shape).flatMap(([name, type]) => {
        const schema = type as z.ZodType;
        return schema.safeParse(undefined).success ? [] : [[name, fc.sample(valid(schema), { seed: 1, numRuns: 1 })[0]]];
      }),
    );
  return {
    params: values(params?.shape) as Record<string, string>,
    query: new URLSearchParams(values(query?.shape) as Record<string, string>).toString(),
    body: body === undefined ? undefined : values(body.shape),
  };
}

/** The path of a request, its parameters in percent-encoding. Lone surrogates go out as the bytes that they would be. */
export function pathOfRequest({ path }: Route, { params, query }: Pick<RequestParts, 'params' | 'query'>): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encoded(params[name]));
  return query === '' ? filled : `${filled}?${query}`;
}

/** Percent-encoding of any text: what is no Unicode becomes bytes that are no UTF-8. */
export function encoded(text: string): string {
  return [...text].map((char) => (/[\w.~-]/.test(char) ? char : bytesOf(char).map(percent).join(''))).join('');
}

function bytesOf(char: string): number[] {
  const code = char.codePointAt(0)!;
  const isLone = code >= 0xd800 && code <= 0xdfff;
  return isLone ? [0xe0 | (code >> 12), 0x80 | ((code >> 6) & 63), 0x80 | (code & 63)] : [...Buffer.from(char)];
}

const percent = (byte: number) => `%${byte.toString(16).padStart(2, '0').toUpperCase()}`;
