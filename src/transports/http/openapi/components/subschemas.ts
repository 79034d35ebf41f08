/** A JSON Schema (2020-12). */
export type OpenApiSchema = Record<string, unknown>;

/** Internal keyword with the name of the constant that a schema was declared as; removed before the document is served. */
export const NAME_TAG = 'x-schema-name';

/** Keywords with schemas by property name. */
const BY_NAME = ['properties', 'patternProperties', 'dependentSchemas'];
/** Keywords with a list of schemas. */
const LISTS = ['anyOf', 'oneOf', 'allOf', 'prefixItems'];
/** Keywords with one schema. */
const SINGLE = ['items', 'additionalProperties', 'propertyNames', 'not', 'contains'];

/** Keywords whose subschemas describe an entry, named in the singular. */
const ENTRIES = new Set(['items', 'additionalProperties', 'prefixItems', 'patternProperties']);

export interface Step {
  property?: string;
  isEntry: boolean;
}

/** Copies a schema with each direct subschema replaced. */
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
