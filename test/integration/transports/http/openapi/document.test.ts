import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeRoutes } from '../../../../../src/tools/client/client-document.ts';
import { NOT_RECORDED } from '../../../../../src/tools/examples/record-examples.ts';
import { buildOpenApiDocument } from '../../../../../src/transports/http/openapi/document.ts';
import { EXAMPLES } from '../../../../../src/transports/http/openapi/examples.ts';
import { buildOperation } from '../../../../../src/transports/http/openapi/operation.ts';
import { allRoutes } from '../../../../../src/transports/http/routes.ts';
import { route, TAGS } from '../../../../../src/transports/http/server/route.ts';
import { inputSchemas } from '../../../../support/http/input-schemas.ts';
import { answerOf, fetchOpenApi, type OpenApi, operationsOf, resolved } from '../../../../support/http/openapi.ts';
import { faults, type JsonSchema } from '../../../../support/http/reply-schema.ts';
import { type Served, serve } from '../../../../support/http/serve.ts';
import { type TestService, testService } from '../../../../support/service/service.ts';

const PUBLIC_URL = 'https://oracle.test/base';

let service: TestService;
let served: Served;
let document: OpenApi;

beforeAll(async () => {
  service = await testService(0, { PUBLIC_URL });
  served = await serve(service);
  document = await fetchOpenApi(served.url);
});
afterAll(async () => {
  await served.close();
  await service.stop();
});

const get = (path: string, headers: Record<string, string> = {}) => fetch(served.url + path, { headers });
const operation = (path: string, method = 'get') => document.paths[path][method];

it('names the units of the rate limit that an operation costs, unless it is one', () => {
  const describeUnits = (units?: number) => {
    const declared = route('GET /x', 'x', { tag: 'service', summary: 'X', reply: null, handle: () => ({ raw: '' }) });
    return buildOperation({ ...declared, ...(units === undefined ? {} : { units }) }).description;
  };
  expect([undefined, 1, 5, 0.5].map(describeUnits)).toEqual([
    'Public.',
    'Public.',
    'Public. Counts as 5 units of the rate limit.',
    'Public. Counts as 0.5 units of the rate limit.',
  ]);
});

describe('the OpenAPI document', () => {
  it('is OpenAPI 3.1.0 of interface 1.0.0, at the public URL', () => {
    expect(document).toMatchObject({
      openapi: '3.1.0',
      info: { version: '1.0.0', license: { identifier: 'MIT' } },
      servers: [{ url: PUBLIC_URL }],
    });
  });

  it('links to the AsyncAPI document', () => {
    expect(document).toMatchObject({ info: { description: expect.stringContaining('`/.well-known/asyncapi.json`') } });
  });

  it('is deterministic', async () => {
    const again = buildOpenApiDocument(allRoutes(service.http), { publicUrl: PUBLIC_URL });
    expect(JSON.stringify(again)).toBe(await (await get('/.well-known/openapi.json')).text());
  });

  it('is the same without a service, as types of the client are generated', () => {
    const described = buildOpenApiDocument(describeRoutes(), { publicUrl: PUBLIC_URL });
    expect(JSON.parse(JSON.stringify(described))).toEqual(document);
  });

  it('is cacheable and returns 304 for its ETag', async () => {
    const { headers } = await get('/.well-known/openapi.json');
    expect(headers.get('cache-control')).toMatch(/^public, max-age=\d+$/);
    expect(headers.get('content-type')).toContain('application/json');
    const etag = headers.get('etag')!;
    expect(etag).toMatch(/^"[\w-]+"$/);
    expect((await get('/.well-known/openapi.json', { 'If-None-Match': etag })).status).toBe(304);
    expect((await get('/.well-known/openapi.json', { 'If-None-Match': '"another"' })).status).toBe(200);
  });

  it('is smaller than 5 kB an operation', async () => {
    expect((await (await get('/.well-known/openapi.json')).arrayBuffer()).byteLength).toBeLessThan(5_000 * operationsOf(document).length);
  });

  it('names the schema of every JSON body and of shared parts', () => {
    const bodies = operationsOf(document).flatMap((each) => {
      const replies = Object.keys(each.responses).map((status) => answerOf(document, each, Number(status)));
      return [each.requestBody, ...replies].flatMap((part) => Object.entries(part?.content ?? {}));
    });
    const inline = bodies.filter(([type, { schema }]) => type.endsWith('json') && schema.$ref === undefined);
    expect(inline).toEqual([]);
    const { schemas } = document.components;
    for (const name of Object.keys(schemas)) expect(name).toMatch(/^[A-Z][A-Za-z0-9]*$/);
    for (const name of ['RegisterWebhookRequest', 'Scorecard', 'PublicSignal', 'TrackRecord', 'WebhookResponse', 'Direction']) {
      expect(Object.keys(schemas)).toContain(name);
    }
    expect(JSON.stringify(document)).not.toContain('x-schema-name');
  });

  it('groups operations by the tags in use, in order', () => {
    const used = new Set(operationsOf(document).flatMap(({ tags }) => tags));
    expect(document.tags.map(({ name }) => name)).toEqual(Object.keys(TAGS).filter((name) => used.has(name)));
  });

  it('marks deprecated operations', () => {
    const deprecated = operationsOf(document).filter((one) => one.deprecated);
    expect(deprecated.map(({ path }) => path)).toEqual(['/api/svc/signal']);
  });

  it('describes every parameter and field', () => {
    const untold = operationsOf(document).flatMap(({ operationId, parameters = [], requestBody, responses }) => [
      ...parameters.filter(({ description }) => !description).map(({ name }) => `${operationId}: ${name}`),
      ...[requestBody, ...Object.values(responses)].flatMap((part) => undescribed(part, operationId)),
    ]);
    expect([...untold, ...undescribed(document.components, 'components')]).toEqual([]);
  });

  it('has a schema for every JSON reply', () => {
    const open = operationsOf(document).flatMap(({ operationId, responses }) =>
      Object.entries(responses).flatMap(([status, answer]) => {
        const schema = 'content' in answer ? answer.content?.['application/json']?.schema : undefined;
        return schema !== undefined && Object.keys(schema).length === 0 ? [`${operationId} ${status}`] : [];
      }),
    );
    expect(open).toEqual([]);
  });
});

/** Fields without a description, by their place. */
function undescribed(node: unknown, place: string): string[] {
  if (typeof node !== 'object' || node === null) return [];
  return Object.entries(node).flatMap(([key, value]) => {
    if (key === 'example' || key === 'examples') return [];
    const inner = undescribed(value, `${place}.${key}`);
    if (key !== 'properties' || !('type' in node)) return inner;
    const bare = Object.entries<JsonSchema>(value).filter(([, field]) => !field.description && !resolved(document, field).description);
    return [...bare.map(([name]) => `${place}.${name}`), ...inner];
  });
}

describe('documented errors', () => {
  it.each([
    ['get', '/api/svc/open/signal', ['200', '304', '400', '429', '503', 'default']],
    ['get', '/api/btc-price', ['200', '304', '429', '503', 'default']],
    ['get', '/api/svc/onchain-oracle/verify/{uid}', ['200', '304', '400', '404', '429', '503', 'default']],
    ['get', '/health', ['200', '304', '414', '503', 'default']],
    ['get', '/ready', ['200', '304', '414', '503', 'default']],
    ['get', '/api/svc/oracle', ['200', '400', '401', '403', '429', '503', 'default']],
    ['post', '/api/svc/webhooks/register', ['201', '400', '401', '403', '409', '429', '503', 'default']],
  ])('%s %s are those that can occur', (method, path, expected) => {
    expect(Object.keys(operation(path, method).responses)).toEqual(expected);
  });

  it('include those of tokens wherever one is read, since reading its balance may fail', () => {
    const codesOf = (path: string) => answerOf(document, operation(path), 503)!.description;
    for (const path of ['/api/btc-price', '/api/svc/oracle']) expect(codesOf(path), path).toContain('CHAIN_UNREACHABLE');
    for (const path of ['/health', '/ready']) expect(codesOf(path), path).not.toContain('CHAIN_UNREACHABLE');
  });

  it('include 414 on every path', async () => {
    for (const path of ['/health', '/ready', '/api/btc-price', '/']) {
      expect((await get(`${path}?${'a'.repeat(5_000)}`)).status, path).toBe(414);
    }
  });

  it('are problem documents with their headers', () => {
    for (const each of operationsOf(document)) {
      for (const status of Object.keys(each.responses).map((name) => (name === 'default' ? 500 : Number(name)))) {
        const { content, headers } = answerOf(document, each, status)!;
        const names = Object.keys(headers);
        if (status >= 400) expect(names, `${each.operationId} ${status}`).toContain('X-Request-Id');
        if (status === 401 || status === 403) expect(names).toContain('WWW-Authenticate');
        if (status === 429) expect(names).toEqual(expect.arrayContaining(['Retry-After', 'RateLimit', 'RateLimit-Policy']));
        const documented = content?.['application/problem+json']?.schema;
        if (status === 402 && each['x-payment-info'] !== undefined)
          expect(resolved(document, documented!)).toMatchObject({ required: expect.arrayContaining(['code', 'accepts', 'payment']) });
        else if (status >= 400) expect(documented).toEqual({ $ref: '#/components/schemas/Problem' });
      }
    }
  });

  it('match the errors sent', async () => {
    const sent = [
      await get('/api/svc/open/signal?horizon=9d'),
      await get('/api/svc/nothing'),
      await get('/api/svc/agent/feedback/2026-01-01'),
    ];
    for (const response of sent) {
      expect(response.headers.get('content-type')).toContain('application/problem+json');
      expect(faults(document.components.schemas.Problem, await response.json())).toEqual([]);
    }
  });
});

describe('documented parameters', () => {
  it('are those of the interface', () => {
    const [horizon] = operation('/api/svc/open/signal').parameters!;
    expect(horizon).toMatchObject({ in: 'query', name: 'horizon', schema: { type: 'string', enum: ['2d', '3d', '7d'], default: '7d' } });
    expect(horizon.required).toBeUndefined();
    expect(operation('/api/svc/scorecard').parameters![0].schema).toMatchObject({ type: 'integer', enum: [1, 2, 3, 7], default: 7 });
    expect(operation('/api/svc/onchain-oracle/history').parameters![0].schema).toMatchObject({
      type: 'integer',
      minimum: 1,
      maximum: 100,
      default: 30,
    });
    const [uid] = operation('/api/svc/onchain-oracle/verify/{uid}').parameters!;
    expect(uid).toMatchObject({ in: 'path', required: true, schema: { pattern: '^0x[a-fA-F0-9]{64}$' } });
  });
});

describe('examples', () => {
  const successes = () =>
    operationsOf(document).flatMap(({ operationId, responses, 'x-access': access }) =>
      Object.entries(responses).flatMap(([status, answer]) => {
        const json = status.startsWith('2') && 'content' in answer ? answer.content?.['application/json'] : undefined;
        return json === undefined ? [] : [{ place: `${operationId} ${status}`, operationId, access, json }];
      }),
    );

  it('exist for every short JSON reply and every body', () => {
    const recorded = (operationId: string) => Object.values(EXAMPLES.replies[operationId] ?? {}).map((types) => types['application/json']);
    const isLong = (operationId: string) => recorded(operationId).some((example) => JSON.stringify(example ?? '').length > 800);
    const bare = successes().filter(
      ({ operationId, access, json }) =>
        !NOT_RECORDED.has(operationId) && access !== 'admin' && !('example' in json) && !isLong(operationId),
    );
    expect(bare.map(({ place }) => place)).toEqual([]);
    expect(successes().filter(({ json }) => 'example' in json).length).toBeGreaterThan(40);
    const bodies = operationsOf(document).flatMap(({ operationId, requestBody, 'x-access': access }) =>
      requestBody === undefined || access === 'admin' || 'example' in requestBody.content['application/json'] ? [] : [operationId],
    );
    expect(bodies).toEqual([]);
  });

  it('match their schemas', () => {
    const { schemas } = document.components;
    const wrong = successes().flatMap(({ place, json }) =>
      'example' in json ? faults(json.schema, json.example, schemas).map((fault) => `${place}: ${fault}`) : [],
    );
    expect(wrong).toEqual([]);
    const { acceptsBody } = inputSchemas(document);
    for (const { operationId, requestBody } of operationsOf(document)) {
      const example = requestBody?.content['application/json'].example;
      if (example !== undefined) expect([operationId, acceptsBody({ name: operationId }, example)]).toEqual([operationId, true]);
    }
  });

  it('exist for common problems, where they can occur', () => {
    const examples = document.components.examples!;
    expect(Object.keys(examples).toSorted()).toEqual([
      'CONFLICT',
      'INPUT_INVALID',
      'NOT_FOUND',
      'PAYLOAD_TOO_LARGE',
      'PAYMENT_REQUIRED',
      'RATE_LIMITED',
      'TIER_REQUIRED',
      'UNAUTHENTICATED',
      'UNSUPPORTED_MEDIA_TYPE',
      'URL_TOO_LONG',
    ]);
    for (const [code, { value }] of Object.entries(examples)) {
      expect(value).toMatchObject({ code, success: false });
      expect(faults(document.components.schemas.Problem, value)).toEqual([]);
    }
    const gated = answerOf(document, operation('/api/svc/oracle'), 403)!.content!['application/problem+json'];
    expect(gated).toMatchObject({ examples: { TIER_REQUIRED: { $ref: '#/components/examples/TIER_REQUIRED' } } });
  });

  it('contain no token or secret', () => {
    const text = JSON.stringify(document);
    for (const usable of [/eyJ[\w-]{10}/, /whsec_[\w+/]{10}/, /"signature":"0x(?!0{130})/]) expect(text).not.toMatch(usable);
  });
});
