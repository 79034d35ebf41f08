import { ComponentNames } from './component-names.ts';
import { toPascalCase } from './pascal-case.ts';
import { listBranches, type SchemaNode, type SchemaUse, writeUse } from './schema-graph.ts';

export interface NamedBody {
  node: SchemaNode;
  /** `GetScorecardResponse`. */
  name: string;
}

const ROLE = /(Request|Response)$/;
const VERB = /^(Get|List|Run|Buy)(?=[A-Z])/;

/** Characters of a reference without the name. */
const REFERENCE_LENGTH = 35;

/** Shorter schemas of numbers and strings are inlined. */
const MIN_SCALAR_LENGTH = 30;

/** Longer objects are named although they occur once. */
const MIN_LARGE_LENGTH = 700;

/** Names every body, every shared structure, every large object, and equally described properties. */
export function chooseNames(bodies: readonly NamedBody[], nodes: readonly SchemaNode[], taken: Iterable<string>): ComponentNames {
  const names = new ComponentNames(taken);
  const countUses = createUseCounter();
  for (const [node, group] of Map.groupBy(bodies, (body) => body.node)) names.assign(node, chooseBodyName(node, group));
  nameConstants(
    nodes.filter((node) => !names.has(node)),
    names,
    countUses,
  );
  nameShared(nodes.filter((node) => !names.has(node) && countUses(node) > 1 && deservesName(node)).reverse(), names);
  nameLarge(nodes.filter((node) => !names.has(node) && isObject(node)).reverse(), names);
  nameProperties(nodes, names);
  return names;
}

/** A refined constant is another structure with the same tag: the most used one gets the name. */
function nameConstants(nodes: readonly SchemaNode[], names: ComponentNames, countUses: UseCounter): void {
  for (const [tag, group] of Map.groupBy(nodes, ({ tag: own }) => own)) {
    if (tag === undefined || !names.isFree(tag)) continue;
    const most = group.reduce((found, node) => (countUses(node) > countUses(found) ? node : found));
    if (isObject(most) || (countUses(most) > 1 && measureLength(most) >= MIN_SCALAR_LENGTH)) names.assign(most, tag);
  }
}

/** By property; ambiguous ones also by owner. */
function nameShared(nodes: readonly SchemaNode[], names: ComponentNames): void {
  const byKey = Map.groupBy(nodes, ({ uses: [{ key }] }) => toPascalCase(key));
  for (const node of nodes) {
    const key = toPascalCase(node.uses[0].key);
    names.assign(node, byKey.get(key)!.length === 1 && names.isFree(key) ? key : `${findOwnerName(node.uses[0], names)}${key}`);
  }
}

/** Objects that would be a large anonymous part of another, by owner and property. */
function nameLarge(nodes: readonly SchemaNode[], names: ComponentNames): void {
  for (const node of nodes) {
    const [use] = node.uses;
    if (use === undefined || JSON.stringify(writeUse(node, undefined, names.find)).length < MIN_LARGE_LENGTH) continue;
    names.assign(node, `${findOwnerName(use, names)}${toPascalCase(use.key)}`);
  }
}

/** Only where it shortens the document. */
function nameProperties(nodes: readonly SchemaNode[], names: ComponentNames): void {
  for (const node of nodes) {
    for (const [description, uses] of Map.groupBy(node.uses, (use) => use.description)) {
      if (description === undefined) continue;
      const key = toPascalCase(uses[0].key);
      const name = names.isFree(key) ? key : `${findOwnerName(uses[0], names)}${key}`;
      const length = JSON.stringify(writeUse(node, description, names.find)).length;
      const named = length + name.length + uses.length * (REFERENCE_LENGTH + name.length);
      if (named < uses.length * length) names.assign(node, name, description);
    }
  }
}

function chooseBodyName({ tag }: SchemaNode, group: readonly NamedBody[]): string {
  if (tag !== undefined && (group.length > 1 || !ROLE.test(tag))) return tag;
  return group[0].name;
}

type UseCounter = (node: SchemaNode) => number;

/** Counts occurrences in the document, each node once: each use of an unnamed list or nullable schema around it is one. */
function createUseCounter(): UseCounter {
  const known = new Map<SchemaNode, number>();
  const count = ({ uses }: SchemaNode) =>
    uses.reduce((sum, { parent }) => sum + (parent === undefined || deservesName(parent) ? 1 : countUses(parent)), 0);
  const countUses: UseCounter = (node) => {
    const uses = known.get(node) ?? count(node);
    known.set(node, uses);
    return uses;
  };
  return countUses;
}

function measureLength({ body }: SchemaNode): number {
  return JSON.stringify(body).length;
}

function isObject({ body }: SchemaNode): boolean {
  return body.properties !== undefined;
}

/** Objects, enumerations and unions of objects. */
function deservesName(node: SchemaNode): boolean {
  const choices = listBranches(node).filter(({ body }) => body.type !== 'null');
  return isObject(node) || Array.isArray(node.body.enum) || choices.length > 1;
}

/** Name of the nearest named ancestor without its role. */
function findOwnerName({ parent }: SchemaUse, names: ComponentNames): string {
  if (parent === undefined) return '';
  const name = names.find(parent);
  if (name !== undefined) return name.replace(ROLE, '').replace(VERB, '');
  return parent.uses.length === 0 ? '' : findOwnerName(parent.uses[0], names);
}
