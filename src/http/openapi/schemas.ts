import type { oas31, ZodOpenApiOverride } from 'zod-openapi';
import { REPORT_ENVELOPE } from '../../market/reports/report.ts';
import { getInputRules } from '../../platform/validation.ts';
import { SELF_TEST_ENVELOPE } from '../../record/schemas/self-tests.ts';
import { BASIC_FORECAST, PUBLIC_FORECAST } from '../../record/schemas/signal.ts';

type Schema = Record<string, unknown>;

/** Applies to each schema while zod converts it. */
export const adjustSchema: ZodOpenApiOverride = ({ zodSchema, jsonSchema, io }) => {
  const schema = jsonSchema as Schema;
  if (io === 'output') simplifyReply(schema, zodSchema._zod.def);
  else addInputRules(schema, getInputRules(zodSchema));
  // Of an input the format has to say as much as the pattern; of a reply it is sufficient to parse it.
  if (schema.format === 'date' || (io === 'output' && schema.format !== undefined)) delete schema.pattern;
  mergeNull(schema);
};

function simplifyReply(schema: Schema, def: { type: string; catchall?: unknown }): void {
  // Replies may gain fields within a version: clients must ignore unknown ones.
  if (def.type === 'object' && def.catchall === undefined) delete schema.additionalProperties;
  // The safe-integer bounds of a reply are noise; of a request they are validated.
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  // All names are text.
  if (JSON.stringify(schema.propertyNames) === '{"type":"string"}') delete schema.propertyNames;
  // A constant has its type.
  if ('const' in schema) delete schema.type;
}

/** Alternatives replace a type that is narrower than them. */
function addInputRules(schema: Schema, rules: Schema = {}): void {
  if ('anyOf' in rules && 'enum' in schema) {
    delete schema.type;
    delete schema.enum;
  }
  Object.assign(schema, rules);
}

/** Keywords that apply to values of any type. */
const UNMERGEABLE = ['enum', 'const', '$ref', 'anyOf', 'oneOf', 'allOf', 'not', 'properties'];

/** Rewrites `anyOf` of a schema and null to `type: [..., null]`: keywords of one type do not apply to values of another. */
function mergeNull(schema: Schema): void {
  const [inner, other, ...more] = (schema.anyOf ?? []) as Schema[];
  if (inner === undefined || other?.type !== 'null' || more.length > 0) return;
  if (typeof inner.type !== 'string' || UNMERGEABLE.some((keyword) => keyword in inner)) return;
  delete schema.anyOf;
  Object.assign(schema, { ...inner, ...schema, type: [inner.type, 'null'] });
}

type Schemas = Record<string, Schema>;

const SCHEMAS = '#/components/schemas/';

/** Removes what the schemas of a document repeat, and of the members of replies all but their types unless it describes them. Mutates it. */
export function compactSchemas(document: oas31.OpenAPIObject, describesReplies: boolean): oas31.OpenAPIObject {
  const schemas = (document.components?.schemas ?? {}) as Schemas;
  removeRepetition(document);
  // Before descriptions are removed: without them, schemas of different meaning are the same.
  reuseNamed(schemas);
  if (!describesReplies) reduceReplies(schemas, listInputs(document, schemas));
  addBases(schemas);
  extendSchemas(schemas);
  return document;
}

/** What a schema says besides the one that it refers to. */
const ANNOTATIONS = ['description', 'default', 'deprecated', 'examples'];

/** zod may repeat a schema, before it was adjusted, beside its reference; zod-openapi repeats the description of a parameter in its schema. */
function removeRepetition(node: unknown): void {
  if (typeof node !== 'object' || node === null) return;
  if ('$ref' in node) {
    for (const keyword of Object.keys(node)) if (keyword !== '$ref' && !ANNOTATIONS.includes(keyword)) delete (node as Schema)[keyword];
  }
  if ('in' in node && typeof node.in === 'string' && 'schema' in node) delete (node.schema as Schema).description;
  for (const member of Object.values(node)) removeRepetition(member);
}

/** Names of the schemas that parameters and bodies of requests refer to. */
function listInputs({ paths }: oas31.OpenAPIObject, schemas: Schemas): Set<string> {
  const names = new Set<string>();
  const addReferences = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    const name = '$ref' in node ? String(node.$ref).replace(SCHEMAS, '') : '';
    if (name in schemas && !names.has(name)) {
      names.add(name);
      addReferences(schemas[name]);
    }
    for (const member of Object.values(node)) addReferences(member);
  };
  const operations = Object.values(paths ?? {}).flatMap((item) => Object.values(item as Record<string, oas31.OperationObject>));
  for (const { parameters, requestBody } of operations) addReferences([parameters, requestBody]);
  return names;
}

/** Keywords without which a member still has its type. */
const BEYOND_TYPES = ['description', 'examples', 'pattern', 'minimum', 'maximum', 'exclusiveMinimum', 'minLength', 'maxLength'];

function reduceReplies(schemas: Schemas, inputs: ReadonlySet<string>): void {
  for (const [name, schema] of Object.entries(schemas)) if (!inputs.has(name)) reduceMembers(schema);
}

/** @param isByName the members are schemas by the name of a property, which may be that of a keyword */
function reduceMembers(node: object, isByName = false): void {
  for (const [key, member] of Object.entries(node)) {
    if (typeof member !== 'object' || member === null) continue;
    const holdsProperties = key === 'properties' && !isByName;
    if (!holdsProperties) for (const keyword of BEYOND_TYPES) delete member[keyword];
    reduceMembers(member, holdsProperties);
  }
}

/** Shorter ones are not worth a reference. */
const MIN_NAMED_CHARS = 60;

/** A part that is the same as a named schema refers to it. */
function reuseNamed(schemas: Schemas): void {
  const names = new Map(Object.entries(schemas).map(([name, schema]) => [JSON.stringify(schema), name]));
  const replace = (node: object): void => {
    for (const [key, member] of Object.entries(node)) {
      if (typeof member !== 'object' || member === null) continue;
      const text = JSON.stringify(member);
      const name = text.length < MIN_NAMED_CHARS ? undefined : names.get(text);
      if (name === undefined) replace(member);
      else (node as Schema)[key] = { $ref: `${SCHEMAS}${name}` };
    }
  };
  for (const schema of Object.values(schemas)) replace(schema);
}

/** Members that many replies have in common, which no reply consists of. */
const BASES: Record<string, object> = {
  MarketReading: REPORT_ENVELOPE.shape,
  SelfTestRun: SELF_TEST_ENVELOPE,
  Forecast: BASIC_FORECAST,
  PublicForecast: PUBLIC_FORECAST,
};

/** From the first reply that has all members of a base. */
function addBases(schemas: Schemas): void {
  for (const [name, shape] of Object.entries(BASES)) {
    const members = Object.keys(shape);
    const owner = Object.values(schemas).find(({ properties }) => members.every((member) => member in ((properties ?? {}) as Schema)));
    if (owner !== undefined) schemas[name] = pickMembers(owner, members);
  }
}

/** Fewer members are not worth a reference. */
const MIN_SHARED_MEMBERS = 7;

/** A reply that has all members of another one extends it by `allOf`. */
function extendSchemas(schemas: Schemas): void {
  const objects = Object.entries(schemas)
    // `allOf` of two closed schemas accepts nothing.
    .filter(([, { type, additionalProperties }]) => type === 'object' && additionalProperties === undefined)
    .map(([name, schema]) => ({ name, schema, members: listMembers(schema) }))
    .sort((a, b) => b.members.size - a.members.size);
  for (const [i, { schema, members }] of objects.entries()) {
    const isBase = ({ members: shared }: (typeof objects)[number]) =>
      shared.size >= MIN_SHARED_MEMBERS &&
      shared.size < members.size &&
      [...shared].every(([member, text]) => members.get(member) === text);
    const base = objects.slice(i + 1).find(isBase);
    if (base === undefined) continue;
    const own = pickMembers(
      schema,
      [...members.keys()].filter((member) => !base.members.has(member)),
    );
    delete schema.required;
    Object.assign(schema, own, { allOf: [{ $ref: `${SCHEMAS}${base.name}` }] });
  }
}

/** Each property with whether it is required, as text. */
function listMembers({ properties = {}, required = [] }: Schema): Map<string, string> {
  const isRequired = (name: string) => (required as string[]).includes(name);
  return new Map(Object.entries(properties as Schema).map(([name, schema]) => [name, JSON.stringify([isRequired(name), schema])]));
}

function pickMembers({ properties, required = [] }: Schema, names: readonly string[]): Schema {
  const picked = (required as string[]).filter((name) => names.includes(name));
  return {
    type: 'object',
    properties: Object.fromEntries(names.map((name) => [name, (properties as Schema)[name]])),
    ...(picked.length === 0 ? {} : { required: picked }),
  };
}

/** `LastDay` for `lastDay` and `last_day`. */
export function toPascalCase(text: string): string {
  return text
    .split(/[^a-zA-Z0-9]+/)
    .filter((word) => word !== '')
    .map((word) => word[0].toUpperCase() + word.slice(1))
    .join('');
}
