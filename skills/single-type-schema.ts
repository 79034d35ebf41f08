type Schema = Record<string, unknown>;

/** Keywords that hold one schema, a list of schemas, or schemas by name; only those that zod emits. */
const ONE = ['items', 'additionalProperties', 'propertyNames', 'not'];
const LIST = ['anyOf', 'oneOf', 'allOf', 'prefixItems'];
const BY_NAME = ['properties', 'patternProperties', '$defs'];

/** Keywords without effect on validation. */
const ANNOTATIONS = ['title', 'description', 'default', 'examples', 'deprecated', 'readOnly', 'writeOnly'];
/** Keywords that apply to any type. */
const OF_ANY_TYPE = ['enum', 'const'];

/** Replaces lists of types by `anyOf`, because some MCP clients reject or drop them. */
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
