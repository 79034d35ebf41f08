import type { oas31 } from 'zod-openapi';
import { chooseNames, type NamedBody } from './choose-names.ts';
import type { ComponentNames } from './component-names.ts';
import { toPascalCase } from './pascal-case.ts';
import { SchemaGraph, type SchemaNode, writeSchema, writeUse } from './schema-graph.ts';
import { shareProperties } from './share-properties.ts';
import { NAME_TAG, type OpenApiSchema } from './subschemas.ts';

interface MediaType {
  schema?: OpenApiSchema;
}

interface Place {
  media: MediaType;
  node: SchemaNode;
}

/** Moves schemas of bodies, and those they share, to `components.schemas`; parameters stay inline. Mutates the document. */
export function nameSchemas(document: oas31.OpenAPIObject): oas31.OpenAPIObject {
  const graph = new SchemaGraph();
  const places: Place[] = [];
  const bodies: NamedBody[] = [];
  for (const { media, name } of iterateMediaTypes(document)) {
    const { schema } = media;
    if (schema === undefined || '$ref' in schema || isPlainText(schema)) continue;
    const node = graph.add(schema, { key: '' });
    places.push({ media, node });
    bodies.push({ node, name });
  }
  const components = document.components ?? {};
  const names = chooseNames(bodies, graph.all(), Object.keys(components.schemas ?? {}));
  for (const { media, node } of places) media.schema = writeUse(node, undefined, names.find);
  const named = buildComponents(names);
  shareProperties(named);
  components.schemas = sortMembers({ ...components.schemas, ...named });
  document.components = components;
  removeTags(document);
  return document;
}

function buildComponents(names: ComponentNames): Record<string, OpenApiSchema> {
  const written = [...names.entries()].map(({ name, node, description = getOwnDescription(node) }): [string, OpenApiSchema] => {
    const schema = names.find(node) === name ? writeSchema(node, names.find) : writeUse(node, undefined, names.find);
    return [name, { ...(description === undefined ? {} : { description }), ...schema }];
  });
  return Object.fromEntries(written);
}

function sortMembers<T>(members: Record<string, T>): Record<string, T> {
  return Object.fromEntries(Object.entries(members).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** A top-level structure keeps its description. */
function getOwnDescription({ uses, description }: SchemaNode): string | undefined {
  return uses.length === 0 ? description : undefined;
}

/** Also in parameters, and in components of zod-openapi. */
function removeTags(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  delete (value as Record<string, unknown>)[NAME_TAG];
  for (const member of Object.values(value)) removeTags(member);
}

function isPlainText(schema: OpenApiSchema): boolean {
  return schema.type === 'string' && Object.keys(schema).length === 1;
}

function* iterateMediaTypes({ paths, components }: oas31.OpenAPIObject): Generator<{ media: MediaType; name: string }> {
  for (const operation of Object.values(paths ?? {}).flatMap((item) => Object.values(item as Record<string, oas31.OperationObject>))) {
    const { operationId, requestBody, responses } = operation;
    const prefix = toPascalCase(operationId!);
    for (const media of listMediaTypes(requestBody)) yield { media, name: `${prefix}Request` };
    const successes = Object.entries(responses ?? {});
    for (const [i, [status, response]] of successes.entries()) {
      const suffix = i === 0 ? '' : status;
      for (const media of listMediaTypes(response)) yield { media, name: `${prefix}${suffix}Response` };
    }
  }
  for (const [name, response] of Object.entries(components?.responses ?? {})) {
    for (const media of listMediaTypes(response)) yield { media, name };
  }
}

function listMediaTypes(part: object | undefined): MediaType[] {
  return part !== undefined && 'content' in part ? Object.values(part.content as Record<string, MediaType>) : [];
}
