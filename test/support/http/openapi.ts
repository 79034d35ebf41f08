import type { AccessLevel } from '../../../src/http/route.ts';
import type { JsonSchema } from './reply-schema.ts';

/** An OpenAPI document, as far as tests read it. */
export interface OpenApi {
  openapi: string;
  info: { title: string; version: string; license: object };
  servers: { url: string }[];
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: {
    schemas: Record<string, JsonSchema>;
    responses: Record<string, Answer>;
    parameters?: Record<string, Parameter>;
    examples?: Record<string, { value: unknown }>;
    securitySchemes: Record<string, { type: string; in?: string }>;
  };
}

export interface Parameter {
  in: 'query' | 'path' | 'header';
  name: string;
  required?: boolean;
  description?: string;
  schema: JsonSchema;
}

export interface Operation {
  operationId: string;
  'x-access': AccessLevel;
  'x-payment-info'?: object;
  tags: string[];
  deprecated?: boolean;
  security: Record<string, string[]>[];
  parameters?: Parameter[];
  requestBody?: { content: Record<string, MediaType> };
  responses: Record<string, Answer | { $ref: string }>;
}

interface MediaType {
  schema: JsonSchema;
  example?: unknown;
}

export interface Answer {
  description: string;
  headers: Record<string, object>;
  content?: Record<string, MediaType>;
}

export interface NamedOperation extends Operation {
  method: string;
  path: string;
}

/** The document that a running service serves. */
export async function fetchOpenApi(url: string): Promise<OpenApi> {
  return (await (await fetch(`${url}/.well-known/openapi.json`)).json()) as OpenApi;
}

/** With the parameters that they refer to. */
export function operationsOf({ paths, components }: OpenApi): NamedOperation[] {
  const resolve = (parameter: Parameter | { $ref: string }) =>
    '$ref' in parameter ? components.parameters![parameter.$ref.replace('#/components/parameters/', '')] : parameter;
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ method, path, ...operation, parameters: operation.parameters?.map(resolve) })),
  );
}

/** What an operation says of a status, or of all that it does not list. */
export function answerOf({ components }: OpenApi, { responses }: Operation, status: number): Answer | undefined {
  const answer = responses[status] ?? responses.default;
  if (answer === undefined) return undefined;
  const whole = '$ref' in answer ? components.responses[answer.$ref.replace('#/components/responses/', '')]! : answer;
  return { ...whole, headers: whole.headers ?? {} };
}

/** The schema that a reference stands for. */
export function resolved({ components }: OpenApi, schema: JsonSchema): JsonSchema {
  return schema.$ref === undefined ? schema : components.schemas[schema.$ref.replace('#/components/schemas/', '')];
}
