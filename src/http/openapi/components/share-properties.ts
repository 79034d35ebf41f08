import { pascalCase } from './pascal-case.ts';
import { type JsonSchema, mapSubschemas } from './subschemas.ts';

/** Characters by which the document has to become shorter for a part of its own. */
const MIN_SAVING = 600;
/** Characters of a part, and of each reference to it. */
const PART_LENGTH = 80;

/** Names of shared parts, by the first schema that has them; others are called after it. */
const PART_NAMES: Record<string, string> = {
  AlphaBrief: 'SoldDocument',
  GetBtcPriceResponse: 'MarketReading',
  GetContaminationResponse: 'SelfTestRun',
  OracleSignal: 'SoldSignal',
};

interface OpenObject {
  /** The component that it is, or is in. */
  component: string;
  isComponent: boolean;
  schema: JsonSchema;
}

/** Equal properties of the same objects. */
interface Part {
  names: string[];
  owners: OpenObject[];
}

/**
 * Moves properties that the same objects have in the same words into a schema of their own, which those extend by `allOf`. Objects that
 * refuse further fields are left as they are: no two schemas could both be closed. Changes the components in place.
 */
export function shareProperties(components: Record<string, JsonSchema>): void {
  const objects = Object.entries(components).flatMap(([component, schema]) => openObjects(component, schema, true));
  for (const part of partsOf(objects)) {
    if (savingOf(part) < MIN_SAVING) continue;
    const whole = part.owners.find(({ isComponent, schema }) => isComponent && isWhole(schema, part));
    const name = whole?.component ?? freeName(part, components);
    if (whole === undefined) components[name] = pick(part.owners[0].schema, part.names);
    for (const owner of part.owners) if (owner !== whole) extend(owner.schema, name, part.names);
  }
}

function openObjects(component: string, schema: JsonSchema, isComponent: boolean): OpenObject[] {
  const inner: OpenObject[] = [];
  mapSubschemas(schema, (one) => {
    inner.push(...openObjects(component, one, false));
    return one;
  });
  const isOpen = 'properties' in schema && !('additionalProperties' in schema) && schema.type === 'object';
  return isOpen ? [{ component, isComponent, schema }, ...inner] : inner;
}

function partsOf(objects: readonly OpenObject[]): Part[] {
  const owners = new Map<string, OpenObject[]>();
  for (const object of objects) {
    for (const name of Object.keys(propertiesOf(object.schema))) {
      const entry = textOf(object.schema, name);
      owners.set(entry, [...(owners.get(entry) ?? []), object]);
    }
  }
  const shared = [...owners].filter(([, having]) => having.length > 1);
  const number = new Map(objects.map((object, i) => [object, i]));
  const bySet = Map.groupBy(shared, ([, having]) => having.map((object) => number.get(object)).join());
  return [...bySet.values()].map((entries) => ({ names: entries.map(([text]) => nameIn(text)), owners: entries[0][1] }));
}

/** A property with all that is said of it. */
function textOf(schema: JsonSchema, name: string): string {
  return JSON.stringify([name, requiredOf(schema).includes(name), propertiesOf(schema)[name]]);
}

function nameIn(text: string): string {
  return (JSON.parse(text) as [string])[0];
}

function savingOf({ names, owners }: Part): number {
  const length = names.reduce((sum, name) => sum + textOf(owners[0].schema, name).length + name.length, 0);
  return (owners.length - 1) * length - (owners.length + 1) * PART_LENGTH;
}

function isWhole(schema: JsonSchema, { names }: Part): boolean {
  return !('allOf' in schema) && Object.keys(propertiesOf(schema)).length === names.length;
}

function pick(schema: JsonSchema, names: readonly string[]): JsonSchema {
  const required = requiredOf(schema).filter((name) => names.includes(name));
  const properties = Object.fromEntries(names.map((name) => [name, propertiesOf(schema)[name]]));
  return { type: 'object', properties, ...(required.length === 0 ? {} : { required }) };
}

function extend(schema: JsonSchema, name: string, names: readonly string[]): void {
  const left = Object.keys(propertiesOf(schema)).filter((one) => !names.includes(one));
  const { properties, required } = pick(schema, left);
  schema.allOf = [...((schema.allOf as JsonSchema[] | undefined) ?? []), { $ref: `#/components/schemas/${name}` }];
  Object.assign(schema, { properties });
  if (required === undefined) delete schema.required;
  else schema.required = required;
}

/** After the first schema that has the part, or else after its first property. */
function freeName({ names, owners: [{ component }] }: Part, components: Record<string, JsonSchema>): string {
  const own = PART_NAMES[component] ?? `${component.replace(/(Request|Response)$/, '').replace(/^(Get|List)(?=[A-Z])/, '')}Base`;
  const byProperty = `With${pascalCase(names[0])}`;
  const free = (number: number): string => (`${byProperty}${number}` in components ? free(number + 1) : `${byProperty}${number}`);
  return [own, byProperty].find((name) => !(name in components)) ?? free(2);
}

function propertiesOf({ properties }: JsonSchema): JsonSchema {
  return properties as JsonSchema;
}

function requiredOf({ required }: JsonSchema): string[] {
  return (required ?? []) as string[];
}
