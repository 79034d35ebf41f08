import { mergeNull } from './merge-null.ts';
import { mapSubschemas, NAME_TAG, type OpenApiSchema } from './subschemas.ts';

/** Links a pointer to the node of a subschema. */
const NODE = Symbol('node');

/** Component name of a structure, or of a structure with a description. */
type NameLookup = (node: SchemaNode, description?: string) => string | undefined;

/** A deduplicated structure; descriptions belong to its uses. */
export interface SchemaNode {
  /** Without description; subschemas are pointers. */
  body: OpenApiSchema;
  /** Description of the first use. */
  description?: string;
  /** Name of its schema constant. */
  tag?: string;
  /** One per distinct parent. */
  uses: SchemaUse[];
}

export interface SchemaUse {
  /** Undefined for a body. */
  parent?: SchemaNode;
  /** Property name, singular for entries. */
  key: string;
  description?: string;
}

interface Pointer extends OpenApiSchema {
  [NODE]: SchemaNode;
}

export class SchemaGraph {
  private readonly nodes = new Map<string, SchemaNode>();
  private readonly ids = new Map<SchemaNode, number>();

  add(schema: OpenApiSchema, use: SchemaUse): SchemaNode {
    const { description, [NAME_TAG]: tag, ...rest } = mergeNull(schema);
    const steps: [SchemaNode, Omit<SchemaUse, 'parent'>][] = [];
    const body = mapSubschemas(rest, (subschema, { property, isEntry }) => {
      const { description: own } = subschema;
      const key = property ?? (isEntry ? singularize(use.key) : use.key);
      const node = this.add(subschema, { key });
      steps.push([node, { key, description: own as string | undefined }]);
      return createPointer(node, own);
    });
    const node = this.intern(body, description as string | undefined, tag as string | undefined, steps);
    if (use.parent !== undefined) node.uses.push(use);
    return node;
  }

  private intern(
    body: OpenApiSchema,
    description: string | undefined,
    tag: string | undefined,
    steps: [SchemaNode, Omit<SchemaUse, 'parent'>][],
  ): SchemaNode {
    const text = JSON.stringify(
      mapSubschemas(body, (one) => ({ node: this.ids.get((one as Pointer)[NODE]), description: one.description })),
    );
    const known = this.nodes.get(text);
    if (known !== undefined) {
      known.tag ??= tag;
      return known;
    }
    const node: SchemaNode = {
      body,
      uses: [],
      ...(description === undefined ? {} : { description }),
      ...(tag === undefined ? {} : { tag }),
    };
    this.ids.set(node, this.ids.size);
    this.nodes.set(text, node);
    for (const [child, step] of steps) child.uses.push({ parent: node, ...step });
    return node;
  }

  /** In topological order, subschemas first. */
  all(): SchemaNode[] {
    return [...this.nodes.values()];
  }
}

function createPointer(node: SchemaNode, description: unknown): Pointer {
  return { [NODE]: node, ...(description === undefined ? {} : { description }) };
}

/** Serializes a node, with references to named structures. */
export function writeSchema({ body }: SchemaNode, lookUpName: NameLookup): OpenApiSchema {
  return mapSubschemas(body, (one) => writeUse((one as Pointer)[NODE], one.description as string | undefined, lookUpName));
}

/** Serializes one use: a reference where named, with its description unless the name includes that. */
export function writeUse(node: SchemaNode, description: string | undefined, lookUpName: NameLookup): OpenApiSchema {
  if (description === undefined) return toRef(lookUpName(node)) ?? writeSchema(node, lookUpName);
  return toRef(lookUpName(node, description)) ?? { description, ...writeUse(node, undefined, lookUpName) };
}

function toRef(name: string | undefined): OpenApiSchema | undefined {
  return name === undefined ? undefined : { $ref: `#/components/schemas/${name}` };
}

export function listBranches({ body }: SchemaNode): SchemaNode[] {
  return ((body.anyOf ?? body.oneOf ?? []) as Pointer[]).map((branch) => branch[NODE]);
}

/** `entry` for `entries`; regular plurals only. */
function singularize(word: string): string {
  if (/ies$/.test(word)) return word.replace(/ies$/, 'y');
  return /[^su]s$/.test(word) ? word.slice(0, -1) : word;
}
