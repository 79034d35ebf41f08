import { ComponentNames } from './component-names.ts';
import { toPascalCase } from './pascal-case.ts';
import { listBranches, type SchemaNode, type SchemaUse, writeUse } from './schema-graph.ts';

/** A body of a request or response. */
export interface NamedBody {
  node: SchemaNode;
  /** `GetScorecardResponse`. */
  name: string;
}

/** Names that say what a body is to an operation, not what it is. */
const ROLE = /(Request|Response)$/;
const VERB = /^(Get|List|Run|Buy)(?=[A-Z])/;

/** Characters that a reference takes beside the name in it. */
const REFERENCE_LENGTH = 35;

/** Characters from which the schema of a number or text is worth a name of its own. */
const MIN_SCALAR_LENGTH = 30;

/** Names of components: of every body, of every structure that several schemas share, and of properties that they describe alike. */
export function chooseNames(bodies: readonly NamedBody[], nodes: readonly SchemaNode[], taken: Iterable<string>): ComponentNames {
  const names = new ComponentNames(taken);
  for (const [node, group] of Map.groupBy(bodies, (body) => body.node)) names.assign(node, chooseBodyName(node, group));
  nameConstants(
    nodes.filter((node) => !names.has(node)),
    names,
  );
  nameShared(nodes.filter((node) => !names.has(node) && isShared(node) && deservesName(node)).reverse(), names);
  nameProperties(nodes, names);
  return names;
}

/** A constant with further checks is another structure under the same tag: the one that is used most has the name. */
function nameConstants(nodes: readonly SchemaNode[], names: ComponentNames): void {
  for (const [tag, group] of Map.groupBy(nodes, ({ tag: own }) => own)) {
    const most = findMostUsed(group);
    if (tag === undefined || !names.isFree(tag)) continue;
    if (isObject(most) || (isShared(most) && measureLength(most) >= MIN_SCALAR_LENGTH)) names.assign(most, tag);
  }
}

/** By their property, and where several have the same, also by the schema that they belong to. */
function nameShared(nodes: readonly SchemaNode[], names: ComponentNames): void {
  const byKey = Map.groupBy(nodes, ({ uses: [{ key }] }) => toPascalCase(key));
  for (const node of nodes) {
    const key = toPascalCase(node.uses[0].key);
    names.assign(node, byKey.get(key)!.length === 1 && names.isFree(key) ? key : `${findOwnerName(node.uses[0], names)}${key}`);
  }
}

/** Where that makes the document shorter. */
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

function isShared(node: SchemaNode): boolean {
  return countUses(node) > 1;
}

/** How often the document would have it in full: a list or a nullable schema that has no name of its own stands in each place that uses it. */
function countUses({ uses }: SchemaNode): number {
  return uses.reduce((count, { parent }) => count + (parent === undefined || deservesName(parent) ? 1 : countUses(parent)), 0);
}

function measureLength({ body }: SchemaNode): number {
  return JSON.stringify(body).length;
}

function isObject({ body }: SchemaNode): boolean {
  return body.properties !== undefined;
}

/** Objects, enumerations and choices of objects; a name for every number would say less than the number. */
function deservesName(node: SchemaNode): boolean {
  const choices = listBranches(node).filter(({ body }) => body.type !== 'null');
  return isObject(node) || Array.isArray(node.body.enum) || choices.length > 1;
}

function findMostUsed(nodes: readonly SchemaNode[]): SchemaNode {
  return nodes.reduce((most, node) => (countUses(node) > countUses(most) ? node : most));
}

/** Name of the nearest schema above that has one, without its role. */
function findOwnerName({ parent }: SchemaUse, names: ComponentNames): string {
  if (parent === undefined) return '';
  const name = names.find(parent);
  if (name !== undefined) return name.replace(ROLE, '').replace(VERB, '');
  return parent.uses.length === 0 ? '' : findOwnerName(parent.uses[0], names);
}
