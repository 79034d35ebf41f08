import type { AccessLevel } from '../../../src/http/route.ts';
import type { ExampleCall, ExampleRequest } from './client.ts';

export interface CallableOperation {
  method: string;
  path: string;
  operationId: string;
  'x-access': AccessLevel;
  mediaTypes: string[];
}

export function listOperations({ paths }: { paths: Record<string, Record<string, DocumentedOperation>> }): CallableOperation[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, { operationId, responses, ...operation }]) => {
      const success = Object.entries(responses).find(([status]) => status.startsWith('2'))?.[1];
      return { method, path, operationId, 'x-access': operation['x-access'], mediaTypes: Object.keys(success?.content ?? {}) };
    }),
  );
}

interface DocumentedOperation {
  operationId: string;
  'x-access': CallableOperation['x-access'];
  responses: Record<string, { content?: object }>;
}

export function buildRequest(
  { method }: CallableOperation,
  { body, headers }: ExampleCall,
  rest: Pick<ExampleRequest, 'accept' | 'token'>,
): ExampleRequest {
  return { method: method.toUpperCase(), body, headers, ...rest };
}

export function buildPath({ path, operationId }: Pick<CallableOperation, 'path' | 'operationId'>, call: ExampleCall): string {
  const { params = {}, query = {} } = call;
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = params[name];
    if (value === undefined) throw new Error(`${operationId}: no sample of "${name}"`);
    return encodeURIComponent(value);
  });
  const search = new URLSearchParams(query).toString();
  return search === '' ? filled : `${filled}?${search}`;
}
