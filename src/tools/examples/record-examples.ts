import type { Examples } from '../../transports/http/openapi/examples.ts';
import type { AccessLevel } from '../../transports/http/server/route.ts';
import { EXAMPLE_CALLS } from './calls.ts';
import type { ExampleCall, ExampleClient, ExampleRequest } from './example-client.ts';
import { PROBLEM_CALLS } from './problem-calls.ts';
import { redactValue, truncateLines } from './redact.ts';

export interface CallableOperation {
  method: string;
  path: string;
  operationId: string;
  'x-access': AccessLevel;
  mediaTypes: string[];
}

/** Recorded text types; pages and scripts are omitted. */
const TEXT_MEDIA_TYPES = new Set(['text/plain', 'text/markdown']);

/** The OpenAPI document would contain itself; the AsyncAPI document is published elsewhere; a demonstration stamps nothing. */
export const NOT_RECORDED: ReadonlySet<string> = new Set(['getOpenApi', 'getAsyncApi', 'getTimestampDocument', 'getTimestampProof']);

export async function recordExamples(client: ExampleClient): Promise<Examples> {
  const examples: Examples = { requests: {}, replies: {}, problems: {} };
  const operations = listOperations(await client.requestJson('/.well-known/openapi.json'));
  // Admin responses are for the operator only.
  for (const operation of operations.filter((one) => one['x-access'] !== 'admin' && !NOT_RECORDED.has(one.operationId))) {
    await recordOperation(client, operation, examples);
  }
  for (const cause of PROBLEM_CALLS) {
    const problem = await cause(client);
    examples.problems[problem.code] = redactValue(problem) as object;
  }
  return examples;
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

async function recordOperation(client: ExampleClient, operation: CallableOperation, { requests, replies }: Examples): Promise<void> {
  const { operationId, mediaTypes, 'x-access': access } = operation;
  const holder = access === 'premium' ? 'premium' : 'basic';
  for (const mediaType of mediaTypes.filter((type) => type === 'application/json' || TEXT_MEDIA_TYPES.has(type))) {
    const call = (await EXAMPLE_CALLS[operationId]?.(client, holder)) ?? {};
    const isAnonymous = (access === 'public' || access === 'paid') && call.needsToken === undefined;
    const token = isAnonymous ? undefined : await client.logIn(holder);
    const response = await client.request(buildPath(operation, call), buildRequest(operation, call, { accept: mediaType, token }));
    if (!response.ok) throw new Error(`${operationId} answers ${response.status}: ${await response.text()}`);
    if (call.body !== undefined) requests[operationId] = redactValue(call.body);
    replies[operationId] ??= {};
    replies[operationId][response.status] ??= {};
    replies[operationId][response.status][mediaType] = TEXT_MEDIA_TYPES.has(mediaType)
      ? truncateLines(await response.text())
      : redactValue(await response.json());
  }
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
