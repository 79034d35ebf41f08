/** A JSON Schema (2020-12) as plain JSON. */
export type OpenApiSchema = Record<string, unknown>;

/** Keywords that hold schemas by the name of a property. */
const BY_NAME = ['properties', 'patternProperties', 'dependentSchemas'];
/** Keywords that hold a list of schemas. */
const LISTS = ['anyOf', 'oneOf', 'allOf', 'prefixItems'];
/** Keywords that hold one schema. */
const SINGLE = ['items', 'additionalProperties', 'propertyNames', 'not', 'contains'];

/** Keywords of which each match has a name of its own in the singular. */
const ENTRIES = new Set(['items', 'additionalProperties', 'prefixItems', 'patternProperties']);

/** How a subschema is reached from its parent: the name of its property, or what kind of entry it is. */
export interface Step {
  property?: string;
  isEntry: boolean;
}

/** A copy of a schema in which each direct subschema is replaced by what `replace` returns. */
export function mapSubschemas(schema: OpenApiSchema, replace: (subschema: OpenApiSchema, step: Step) => OpenApiSchema): OpenApiSchema {
  const copy: OpenApiSchema = { ...schema };
  const isEntry = (keyword: string) => ENTRIES.has(keyword);
  for (const keyword of BY_NAME) {
    if (!isSchema(schema[keyword])) continue;
    const members = Object.entries(schema[keyword]).map(([property, subschema]) => [
      property,
      isSchema(subschema) ? replace(subschema, { property, isEntry: isEntry(keyword) }) : subschema,
    ]);
    copy[keyword] = Object.fromEntries(members);
  }
  for (const keyword of LISTS) {
    const list = schema[keyword];
    if (Array.isArray(list)) copy[keyword] = list.map((one) => (isSchema(one) ? replace(one, { isEntry: isEntry(keyword) }) : one));
  }
  for (const keyword of SINGLE) {
    if (isSchema(schema[keyword])) copy[keyword] = replace(schema[keyword], { isEntry: isEntry(keyword) });
  }
  return copy;
}

function isSchema(value: unknown): value is OpenApiSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
