import type { SchemaNode } from './schema-graph.ts';

/** Names that were given, each once. A structure has one of its own, and one for each description that is part of what is named. */
export class ComponentNames {
  private readonly structures = new Map<SchemaNode, string>();
  private readonly properties = new Map<SchemaNode, Map<string, string>>();
  private readonly used: Set<string>;

  constructor(taken: Iterable<string>) {
    this.used = new Set(taken);
  }

  has(node: SchemaNode): boolean {
    return this.structures.has(node);
  }

  isFree(name: string): boolean {
    return !this.used.has(name);
  }

  /** Gives a name; where another has it already, with `Field` behind it for a property, and with a number at last. */
  assign(node: SchemaNode, wanted: string, description?: string): void {
    const name = this.toFreeName(this.isFree(wanted) || description === undefined ? wanted : `${wanted}Field`);
    this.used.add(name);
    if (description === undefined) this.structures.set(node, name);
    else this.properties.set(node, (this.properties.get(node) ?? new Map<string, string>()).set(description, name));
  }

  private toFreeName(name: string, number = 1): string {
    const one = number === 1 ? name : `${name}${number}`;
    return this.isFree(one) ? one : this.toFreeName(name, number + 1);
  }

  readonly find = (node: SchemaNode, description?: string): string | undefined =>
    description === undefined ? this.structures.get(node) : this.properties.get(node)?.get(description);

  /** Every name with what it was given to. */
  *entries(): Generator<{ name: string; node: SchemaNode; description?: string }> {
    for (const [node, name] of this.structures) yield { name, node };
    for (const [node, names] of this.properties) for (const [description, name] of names) yield { name, node, description };
  }
}
