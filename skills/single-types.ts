type Schema = Record<string, unknown>;

/** Keywords of draft 2020-12 that hold a schema, a list of schemas, or schemas by name, of those that the converter writes. */
const ONE = ['items', 'additionalProperties', 'propertyNames', 'not'];
const LIST = ['anyOf', 'oneOf', 'allOf', 'prefixItems'];
const BY_NAME = ['properties', 'patternProperties', '$defs'];

/** Keywords that describe a value and decide nothing about it. */
const ANNOTATIONS = ['title', 'description', 'default', 'examples', 'deprecated', 'readOnly', 'writeOnly'];
/** Keywords that decide about a value of any type. */
const OF_ANY_TYPE = ['enum', 'const'];

/** The same schema with `anyOf` in place of each list of types, which some clients of MCP reject or drop. */
export function withSingleTypes(schema: Schema): Schema {
  const entries = Object.entries(schema).map(([keyword, value]) => [keyword, mapSubschemas(keyword, value)] as const);
  const mapped: Schema = Object.fromEntries(entries);
  return Array.isArray(mapped.type) ? splitTypes(mapped.type, mapped) : mapped;
}

function mapSubschemas(keyword: string, value: unknown): unknown {
  if (ONE.includes(keyword) && isSchema(value)) return withSingleTypes(value);
  if (LIST.includes(keyword)) return (value as Schema[]).map(withSingleTypes);
  if (!BY_NAME.includes(keyword)) return value;
  return Object.fromEntries(Object.entries(value as Record<string, Schema>).map(([name, one]) => [name, withSingleTypes(one)]));
}

function splitTypes(types: readonly unknown[], { type: _, ...schema }: Schema): Schema {
  const pick = (isKept: (keyword: string) => boolean) => Object.fromEntries(Object.entries(schema).filter(([keyword]) => isKept(keyword)));
  const assertions = pick((keyword) => !ANNOTATIONS.includes(keyword));
  const ofNull = pick((keyword) => OF_ANY_TYPE.includes(keyword));
  const anyOf = types.map((type) => ({ type, ...(type === 'null' ? ofNull : assertions) }));
  return { anyOf, ...pick((keyword) => ANNOTATIONS.includes(keyword)) };
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null;
}
