import type { Examples } from '../../http/openapi/examples.ts';
import type { Access } from '../../http/route.ts';
import { CALLS, type Call } from './calls.ts';
import { PROBLEM_CALLS } from './problem-calls.ts';
import { redacted, shortened } from './redact.ts';
import type { Question, World } from './world.ts';

/** An operation of the served document, as far as it takes to call it. */
export interface Callable {
  method: string;
  path: string;
  operationId: string;
  'x-access': Access;
  /** Media types of success. */
  mediaTypes: string[];
}

/** Texts worth reading as an example; a page or a script is not. */
const READABLE = new Set(['text/plain', 'text/markdown']);

/** The document would hold itself; that of events is no easier to read twice. */
export const NOT_RECORDED: ReadonlySet<string> = new Set(['getOpenApi', 'getAsyncApi']);

/** Calls every operation for real, and keeps what was sent and answered. Throws when one does not succeed. */
export async function recordExamples(world: World): Promise<Examples> {
  const examples: Examples = { requests: {}, replies: {}, problems: {} };
  const operations = callablesOf(await world.json('/.well-known/openapi.json'));
  // What the operator is told is nobody else's.
  for (const operation of operations.filter((one) => one['x-access'] !== 'admin' && !NOT_RECORDED.has(one.operationId))) {
    await recordOperation(world, operation, examples);
  }
  for (const cause of PROBLEM_CALLS) {
    const problem = await cause(world);
    examples.problems[problem.code] = redacted(problem) as object;
  }
  return examples;
}

/** The operations of an OpenAPI document. */
export function callablesOf({ paths }: { paths: Record<string, Record<string, DocumentedOperation>> }): Callable[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, { operationId, responses, ...operation }]) => {
      const success = Object.entries(responses).find(([status]) => status.startsWith('2'))?.[1];
      return { method, path, operationId, 'x-access': operation['x-access'], mediaTypes: Object.keys(success?.content ?? {}) };
    }),
  );
}

interface DocumentedOperation {
  operationId: string;
  'x-access': Callable['x-access'];
  responses: Record<string, { content?: object }>;
}

async function recordOperation(world: World, operation: Callable, { requests, replies }: Examples): Promise<void> {
  const { operationId, mediaTypes, 'x-access': access } = operation;
  const holder = access === 'premium' ? 'premium' : 'basic';
  for (const mediaType of mediaTypes.filter((type) => type === 'application/json' || READABLE.has(type))) {
    const call = (await CALLS[operationId]?.(world, holder)) ?? {};
    const token = (access === 'public' || access === 'paid') && call.endsSession === undefined ? undefined : await world.logIn(holder);
    const response = await world.ask(pathOf(operation, call), questionOf(operation, call, { accept: mediaType, token }));
    if (!response.ok) throw new Error(`${operationId} answers ${response.status}: ${await response.text()}`);
    if (call.body !== undefined) requests[operationId] = redacted(call.body);
    replies[operationId] ??= {};
    replies[operationId][response.status] ??= {};
    replies[operationId][response.status][mediaType] = READABLE.has(mediaType)
      ? shortened(await response.text())
      : redacted(await response.json());
  }
}

/** The rest of a request, beside its path. */
export function questionOf({ method }: Callable, { body, headers }: Call, rest: Pick<Question, 'accept' | 'token'>): Question {
  return { method: method.toUpperCase(), body, headers, ...rest };
}

/** The path of a call, its parameters filled in. */
export function pathOf({ path, operationId }: Pick<Callable, 'path' | 'operationId'>, { params = {}, query = {} }: Call): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = params[name];
    if (value === undefined) throw new Error(`${operationId}: no sample of "${name}"`);
    return encodeURIComponent(value);
  });
  const search = new URLSearchParams(query).toString();
  return search === '' ? filled : `${filled}?${search}`;
}
