import { toPascalCase } from './pascal-case.ts';
import { mapSubschemas, type OpenApiSchema } from './subschemas.ts';

/** Minimum characters saved by a shared part. */
const MIN_SAVING = 600;
/** Overhead of a part, and of each reference, in characters. */
const PART_LENGTH = 80;

/** Names of shared parts by their first schema; default: derived from it. */
const PART_NAMES: Record<string, string> = {
  AlphaBrief: 'SoldDocument',
  GetBtcPriceResponse: 'MarketReading',
  GetContaminationResponse: 'SelfTestRun',
  OracleSignal: 'SoldSignal',
};

interface OpenObject {
  /** Its component, or the enclosing one. */
  component: string;
  isComponent: boolean;
  schema: OpenApiSchema;
}

interface SharedPart {
  names: string[];
  owners: OpenObject[];
}

/** Objects extend shared properties by `allOf`, closed ones excepted: `allOf` of two closed schemas accepts nothing. Mutates. */
export function shareProperties(components: Record<string, OpenApiSchema>): void {
  const objects = Object.entries(components).flatMap(([component, schema]) => listOpenObjects(component, schema, true));
  for (const part of findSharedParts(objects)) {
    if (computeSaving(part) < MIN_SAVING) continue;
    const whole = part.owners.find(({ isComponent, schema }) => isComponent && isExactMatch(schema, part));
    const name = whole?.component ?? chooseFreeName(part, components);
    if (whole === undefined) components[name] = pickProperties(part.owners[0].schema, part.names);
    for (const owner of part.owners) if (owner !== whole) replaceWithRef(owner.schema, name, part.names);
  }
}

function listOpenObjects(component: string, schema: OpenApiSchema, isComponent: boolean): OpenObject[] {
  const inner: OpenObject[] = [];
  mapSubschemas(schema, (one) => {
    inner.push(...listOpenObjects(component, one, false));
    return one;
  });
  const isOpen = 'properties' in schema && !('additionalProperties' in schema) && schema.type === 'object';
  return isOpen ? [{ component, isComponent, schema }, ...inner] : inner;
}

function findSharedParts(objects: readonly OpenObject[]): SharedPart[] {
  const owners = new Map<string, OpenObject[]>();
  for (const object of objects) {
    for (const name of Object.keys(getProperties(object.schema))) {
      const entry = serializeProperty(object.schema, name);
      owners.set(entry, [...(owners.get(entry) ?? []), object]);
    }
  }
  const shared = [...owners].filter(([, having]) => having.length > 1);
  const number = new Map(objects.map((object, i) => [object, i]));
  const bySet = Map.groupBy(shared, ([, having]) => having.map((object) => number.get(object)).join());
  return [...bySet.values()].map((entries) => ({ names: entries.map(([text]) => parsePropertyName(text)), owners: entries[0][1] }));
}

function serializeProperty(schema: OpenApiSchema, name: string): string {
  return JSON.stringify([name, getRequired(schema).includes(name), getProperties(schema)[name]]);
}

function parsePropertyName(text: string): string {
  return (JSON.parse(text) as [string])[0];
}

function computeSaving({ names, owners }: SharedPart): number {
  const length = names.reduce((sum, name) => sum + serializeProperty(owners[0].schema, name).length + name.length, 0);
  return (owners.length - 1) * length - (owners.length + 1) * PART_LENGTH;
}

function isExactMatch(schema: OpenApiSchema, { names }: SharedPart): boolean {
  return !('allOf' in schema) && Object.keys(getProperties(schema)).length === names.length;
}

function pickProperties(schema: OpenApiSchema, names: readonly string[]): OpenApiSchema {
  const required = getRequired(schema).filter((name) => names.includes(name));
  const properties = Object.fromEntries(names.map((name) => [name, getProperties(schema)[name]]));
  return { type: 'object', properties, ...(required.length === 0 ? {} : { required }) };
}

function replaceWithRef(schema: OpenApiSchema, name: string, names: readonly string[]): void {
  const left = Object.keys(getProperties(schema)).filter((one) => !names.includes(one));
  const { properties, required } = pickProperties(schema, left);
  schema.allOf = [...((schema.allOf as OpenApiSchema[] | undefined) ?? []), { $ref: `#/components/schemas/${name}` }];
  Object.assign(schema, { properties });
  if (required === undefined) delete schema.required;
  else schema.required = required;
}

/** Derived from the first schema of the part, else from its first property. */
function chooseFreeName({ names, owners: [{ component }] }: SharedPart, components: Record<string, OpenApiSchema>): string {
  const own = PART_NAMES[component] ?? `${component.replace(/(Request|Response)$/, '').replace(/^(Get|List)(?=[A-Z])/, '')}Base`;
  const byProperty = `With${toPascalCase(names[0])}`;
  const free = (number: number): string => (`${byProperty}${number}` in components ? free(number + 1) : `${byProperty}${number}`);
  return [own, byProperty].find((name) => !(name in components)) ?? free(2);
}

function getProperties({ properties }: OpenApiSchema): OpenApiSchema {
  return properties as OpenApiSchema;
}

function getRequired({ required }: OpenApiSchema): string[] {
  return (required ?? []) as string[];
}
