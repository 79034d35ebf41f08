import type { SchemaNode } from './schema-graph.ts';

/** Registry of unique names: one per structure, and one per structure with a description. */
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

  /** Assigns a name; a taken one gets the suffix `Field` for a property, then a number. */
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

  *entries(): Generator<{ name: string; node: SchemaNode; description?: string }> {
    for (const [node, name] of this.structures) yield { name, node };
    for (const [node, names] of this.properties) for (const [description, name] of names) yield { name, node, description };
  }
}
