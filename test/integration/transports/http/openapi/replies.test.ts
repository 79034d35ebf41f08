import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildOpenApiDocument } from '../../../../../src/http/openapi/document.ts';
import { SETTLEMENT_HEADERS } from '../../../../../src/http/problems.ts';
import { allRoutes } from '../../../../../src/http/routes.ts';
import { demoWallets } from '../../../../support/auth/login.ts';
import { answerOf, fetchOpenApi, type OpenApi, operationsOf } from '../../../../support/http/openapi.ts';
import { faults } from '../../../../support/http/reply-schema.ts';
import { type Served, serve } from '../../../../support/http/serve.ts';
import { createExampleClient, type ExampleClient } from '../../../../support/operations/client.ts';
import { buildPath, buildRequest, type CallableOperation, listOperations } from '../../../../support/operations/operations.ts';
import { nameNothing, sampleOf } from '../../../../support/record/samples.ts';
import { emptyService, fullService, youngService } from '../../../../support/service/full-service.ts';
import type { TestService } from '../../../../support/service/service.ts';

/** Callers by tier. `unknown` sends a token that was never issued. */
const CALLERS = ['anonymous', 'unknown', 'basic', 'premium'] as const;
type CallerName = (typeof CALLERS)[number];

interface Stage {
  /** Where no job is taken on, a sample would wait in vain for the delivery of one. */
  servesJobs: boolean;
  document: OpenApi;
  operations: CallableOperation[];
  world: ExampleClient;
  tokens: Record<CallerName, string | undefined>;
}

/** The document with the bounds of the members of replies, which the served one leaves out. */
function describeReplies({ http }: TestService): OpenApi {
  const options = { publicUrl: 'https://oracle.test', describesReplies: true };
  return JSON.parse(JSON.stringify(buildOpenApiDocument(allRoutes(http), options))) as OpenApi;
}

/** A served service for one group of tests. */
function onStage(open: () => Promise<TestService>, { servesJobs = false, describesReplies = false } = {}): () => Stage {
  let service: TestService;
  let served: Served;
  let stage: Stage;
  beforeAll(async () => {
    service = await open();
    served = await serve(service);
    const world = createExampleClient({
      url: served.url,
      rpcUrl: service.infrastructure.rpcUrl,
      wallets: demoWallets(service),
      nowMs: () => service.http.now().getTime(),
    });
    const document = describesReplies ? describeReplies(service) : await fetchOpenApi(served.url);
    const tokens = {
      anonymous: undefined,
      unknown: 'nobodys.token.this',
      basic: await world.logIn('basic'),
      premium: await world.logIn('premium'),
    };
    stage = {
      servesJobs,
      document,
      operations: listOperations(document as unknown as Parameters<typeof listOperations>[0]),
      world,
      tokens,
    };
  });
  afterAll(async () => {
    await served.close();
    await service.stop();
  });
  return () => stage;
}

/** Headers that depend on the case. */
const SOMETIMES = new Set(['Retry-After', ...Object.values(SETTLEMENT_HEADERS)]);

/** Operations whose samples open a job. */
const OF_JOBS = new Set(['getJob', 'fetchJobDeliverable']);

/** Public operations that answer a login only. */
const FOR_A_LOGIN = new Set(['logOut', 'createApiKey', 'listAccess', 'revokeAccess']);

async function askAs(stage: Stage, operation: CallableOperation, caller: CallerName, accept: string): Promise<Response> {
  const { world, tokens, servesJobs } = stage;
  const holder = caller === 'premium' ? 'premium' : 'basic';
  const isInVain = !servesJobs && OF_JOBS.has(operation.operationId);
  const call = isInVain ? nameNothing(operation) : await sampleOf(world, operation, holder);
  const own = call.endsSession && (caller === 'basic' || caller === 'premium') ? await world.logIn(caller) : tokens[caller];
  return world.request(buildPath(operation, call), buildRequest(operation, call, { accept, token: own }));
}

/** Headers that the introduction documents. */
function usualHeaders({ ok }: Response): string[] {
  return ok ? ['X-Request-Id', 'Cache-Control'] : ['X-Request-Id'];
}

/** What an answer has that its operation does not speak of, one line each. */
async function undocumentedIn(
  { document }: Stage,
  { operationId, method, path }: CallableOperation,
  response: Response,
): Promise<string[]> {
  const operation = operationsOf(document).find((one) => one.operationId === operationId)!;
  const answer = answerOf(document, operation, response.status);
  const text = await response.text();
  const place = `${method} ${path} ${response.status}`;
  if (answer === undefined) return [`${place} is not documented: ${text}`];
  // An answer of success has a challenge only where a token was rejected.
  const isOptional = (name: string) => SOMETIMES.has(name) || (name === 'WWW-Authenticate' && response.ok);
  const missing = Object.keys(answer.headers).filter((name) => !isOptional(name) && !response.headers.has(name));
  const mediaType = response.headers.get('content-type')?.split(';')[0] ?? '';
  const media = answer.content?.[mediaType];
  const lines = [...missing, ...usualHeaders(response).filter((name) => !response.headers.has(name))].map((name) => `has no ${name}`);
  if (media === undefined) lines.push(`is not documented as ${mediaType}`);
  else if (mediaType.endsWith('json')) lines.push(...faults(media.schema, JSON.parse(text), document.components.schemas));
  if (mediaType === 'application/problem+json') {
    const { code } = JSON.parse(text);
    if (!answer.description.includes(`\`${code}\``)) lines.push(`does not tell of ${code}`);
  }
  return lines.map((line) => `${place}: ${line}`);
}

/** Every operation as every caller: what is found wrong, and the statuses by operation. */
async function walk(stage: Stage, caller: CallerName): Promise<{ wrong: string[]; statuses: Map<string, number> }> {
  const wrong: string[] = [];
  const statuses = new Map<string, number>();
  for (const operation of stage.operations) {
    const response = await askAs(stage, operation, caller, 'application/json');
    statuses.set(operation.operationId, response.status);
    wrong.push(...(await undocumentedIn(stage, operation, response)));
  }
  return { wrong, statuses };
}

async function stampedService(): Promise<TestService> {
  const service = await fullService();
  return service;
}

/** Who is refused where, and how. */
function refusal({ 'x-access': access, operationId }: CallableOperation, caller: CallerName, free: boolean): number | null {
  // A token changes nothing where every answer is paid for.
  if (free || access === 'paid') return null;
  // A request without a handshake gets 426 before authentication.
  if (operationId === 'openWebSocket') return 426;
  if (caller === 'anonymous' && operationId === 'runPredictBtcDirection') return 402;
  // A token that is rejected makes its sender anonymous.
  if ((caller === 'anonymous' || caller === 'unknown') && (access !== 'public' || FOR_A_LOGIN.has(operationId))) return 401;
  return caller === 'basic' && access === 'premium' ? 403 : null;
}

describe('on a service with a record, every operation', () => {
  const stage = onStage(stampedService, { servesJobs: true, describesReplies: true });

  it.each(CALLERS)('matches its schema: %s', async (caller) => {
    const { operations, document } = stage();
    const { wrong, statuses } = await walk(stage(), caller);
    expect(wrong).toEqual([]);
    const open = new Set(operationsOf(document).flatMap(({ operationId, security }) => (security.length === 0 ? [operationId] : [])));
    const surprising = operations.flatMap((operation) => {
      const status = statuses.get(operation.operationId)!;
      // Without credentials of the operator set there are no such paths.
      const expected = operation['x-access'] === 'admin' ? 404 : refusal(operation, caller, open.has(operation.operationId));
      return (expected === null ? status < 300 : status === expected) ? [] : [`${operation.operationId} answers ${caller} ${status}`];
    });
    expect(surprising).toEqual([]);
  });

  it('serves every documented media type on request', async () => {
    for (const operation of stage().operations.filter(({ path, mediaTypes }) => mediaTypes.length > 1 && !path.includes('{file}'))) {
      for (const mediaType of operation.mediaTypes) {
        const response = await askAs(stage(), operation, 'premium', mediaType);
        expect(response.headers.get('content-type'), operation.operationId).toContain(mediaType);
        expect(await undocumentedIn(stage(), operation, response)).toEqual([]);
      }
    }
  });
});

describe.each([
  ['none of whose forecasts is resolved', youngService],
  ['before its first forecast', emptyService],
])('on a service %s, every operation', (_, open) => {
  const stage = onStage(open);

  it('matches its schema', async () => {
    const { wrong, statuses } = await walk(stage(), 'premium');
    expect(wrong).toEqual([]);
    const failed = [...statuses].filter(([, status]) => status >= 500 && status !== 503);
    expect(failed).toEqual([]);
  });
});
