export type JsonSchema = Record<string, unknown>;

const isSchema = (value: unknown): value is JsonSchema => typeof value === 'object' && value !== null && !Array.isArray(value);

/** A JSON Schema and all those in it, of the keywords that hold schemas. */
export function subschemasOf(schema: JsonSchema): JsonSchema[] {
  const { properties = {}, patternProperties = {}, $defs = {}, anyOf = [], oneOf = [], allOf = [], prefixItems = [] } = schema;
  const byName = [properties, patternProperties, $defs].flatMap((named) => Object.values(named as object));
  const listed = [anyOf, oneOf, allOf, prefixItems].flat();
  const single = [schema.items, schema.additionalProperties, schema.propertyNames, schema.not];
  return [schema, ...[...byName, ...listed, ...single].filter(isSchema).flatMap(subschemasOf)];
}

/** Whether a schema names several types, or neither a type nor what stands for one. */
export function isVague(schema: JsonSchema): boolean {
  if (Array.isArray(schema.type)) return true;
  return !['type', 'anyOf', 'oneOf', 'allOf', 'enum', 'const', '$ref', 'not'].some((keyword) => keyword in schema);
}
