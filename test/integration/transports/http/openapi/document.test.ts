import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SKILLS } from '../../../../../skills/index.ts';
import { buildOpenApiDocument, buildOperation } from '../../../../../src/http/openapi/document.ts';
import { route, TAGS } from '../../../../../src/http/route.ts';
import { allRoutes } from '../../../../../src/http/routes.ts';
import { describeRoutes } from '../../../../../src/tools/client.ts';
import { inputSchemas } from '../../../../support/http/input-schemas.ts';
import {
  type Answer,
  answerOf,
  fetchOpenApi,
  type OpenApi,
  type Operation,
  operationsOf,
  resolved,
} from '../../../../support/http/openapi.ts';
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

  it.each([
    [undefined, { url: PUBLIC_URL }],
    ['operator@oracle.test', { url: PUBLIC_URL, email: 'operator@oracle.test' }],
    ['https://oracle.test/contact', { url: 'https://oracle.test/contact' }],
  ])('names the contact of the operator: %s', (contact, expected) => {
    const { info } = buildOpenApiDocument([], { publicUrl: PUBLIC_URL, contact });
    expect(info.contact).toEqual({ name: info.title, ...expected });
  });

  it('links to the AsyncAPI document', () => {
    expect(document).toMatchObject({ info: { description: expect.stringContaining('`/.well-known/asyncapi.json`') } });
  });

  it('is deterministic', async () => {
    const text = await (await get('/.well-known/openapi.json')).text();
    expect(JSON.stringify(buildOpenApiDocument(allRoutes(service.http), { publicUrl: PUBLIC_URL }))).toBe(text);
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

  it('is served at the root too, which directories of paid services read', async () => {
    const [canonical, root] = [await get('/.well-known/openapi.json'), await get('/openapi.json')];
    expect(root.headers.get('link')).toBe(`<${PUBLIC_URL}/.well-known/openapi.json>; rel="canonical"`);
    for (const name of ['content-type', 'cache-control', 'etag']) expect(root.headers.get(name)).toBe(canonical.headers.get(name));
    expect(await root.text()).toBe(await canonical.text());
  });

  it('has at most 400 kB with the skills of the interface, and 10 kB more for each further one', async () => {
    const limit = 360_000 + 10_000 * SKILLS.length;
    expect((await (await get('/.well-known/openapi.json')).arrayBuffer()).byteLength).toBeLessThanOrEqual(limit);
  });

  it('refers to a named schema only where the meaning is the same, not the types alone', () => {
    const { MarketContext, PremiumSignal } = document.components.schemas;
    const hasPart = (schema: unknown) => JSON.stringify(schema).includes('/MissingPart"');
    expect([MarketContext, PremiumSignal].map(hasPart)).toEqual([true, false]);
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
  });

  it('describes members of replies only for the types of a client, which are otherwise the same', () => {
    const described = JSON.parse(JSON.stringify(buildOpenApiDocument(describeRoutes(), { publicUrl: PUBLIC_URL, describesReplies: true })));
    const { schemas } = described.components;
    expect(Object.keys(schemas).toSorted()).toEqual(Object.keys(document.components.schemas).toSorted());
    expect(schemas.Scorecard.properties.predictions.description).toBeTruthy();
    expect(document.components.schemas.Scorecard!.properties!.predictions).not.toHaveProperty('description');
    expect(undescribed(described.components, 'components')).toEqual([]);
  });

  it('groups operations by the tags in use, in order', () => {
    const used = new Set(operationsOf(document).flatMap(({ tags }) => tags));
    expect(document.tags.map(({ name }) => name)).toEqual(Object.keys(TAGS).filter((name) => used.has(name)));
  });

  it('marks deprecated operations', () => {
    const deprecated = operationsOf(document).filter((one) => one.deprecated);
    expect(deprecated.map(({ path }) => path)).toEqual(['/api/svc/signal']);
  });

  it('describes every parameter and body field', () => {
    const bare = operationsOf(document).flatMap(({ operationId, parameters = [], requestBody }) => [
      ...parameters.filter(({ description }) => !description).map(({ name }) => `${operationId}: ${name}`),
      ...(requestBody === undefined ? [] : undescribed(resolved(document, requestBody.content['application/json']!.schema), operationId)),
    ]);
    expect(bare).toEqual([]);
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
    ['get', '/api/svc/open/signal', ['200', '400', 'default']],
    ['get', '/api/btc-price', ['200', '429', 'default']],
    ['get', '/api/svc/onchain-oracle/verify/{uid}', ['200', '400', '404', 'default']],
    ['get', '/health', ['200', '414', '503', 'default']],
    ['get', '/ready', ['200', '414', '503', 'default']],
    ['get', '/api/svc/oracle', ['200', '400', '401', '403', 'default']],
    ['post', '/api/svc/webhooks/register', ['201', '400', '401', '403', '409', 'default']],
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
        if (status === 401 || status === 403) expect(names).toContain('WWW-Authenticate');
        if (status === 429) expect(names).toEqual(expect.arrayContaining(['Retry-After', 'RateLimit', 'RateLimit-Policy']));
        const documented = content?.['application/problem+json']?.schema;
        // Errors of JSON-RPC, whatever the status.
        if (each.operationId === 'sendA2aRequest') continue;
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
      expect(faults(document.components.schemas.Problem, await response.json(), document.components.schemas)).toEqual([]);
    }
  });
});

describe('documented parameters', () => {
  it('are those of the interface', () => {
    const parametersOf = (path: string) => operationsOf(document).find((one) => one.path === path && one.method === 'get')!.parameters!;
    const [horizon] = parametersOf('/api/svc/open/signal');
    expect(horizon).toMatchObject({
      in: 'query',
      name: 'horizon',
      schema: { type: 'string', enum: expect.arrayContaining(['2d', '3d', '7d']), default: '7d' },
    });
    expect(horizon.required).toBeUndefined();
    expect(parametersOf('/api/svc/scorecard')[0].schema).toMatchObject({
      anyOf: expect.arrayContaining([{ type: 'integer', enum: [1, 2, 3, 7] }]),
      default: 7,
    });
    expect(parametersOf('/api/svc/onchain-oracle/history')[0].schema).toMatchObject({
      type: 'integer',
      minimum: 1,
      maximum: 100,
      default: 30,
    });
    const [uid] = parametersOf('/api/svc/onchain-oracle/verify/{uid}');
    expect(uid).toMatchObject({ in: 'path', required: true, schema: { pattern: '^0x[a-fA-F0-9]{64}$' } });
  });
});

describe('documented payments', () => {
  const paid = () => operationsOf(document).filter((one) => one['x-payment-info'] !== undefined);

  it('are sent in header parameters, and are no security scheme', () => {
    expect(paid().map(({ operationId }) => operationId)).toEqual(
      expect.arrayContaining(['buySignal', 'buyPremiumSignal', 'runPredictBtcDirection']),
    );
    for (const each of operationsOf(document)) {
      const headers = (each.parameters ?? []).filter((one) => one.in === 'header').map(({ name, required }) => ({ name, required }));
      const expected = each['x-payment-info'] === undefined ? [] : ['PAYMENT-SIGNATURE', 'X-PAYMENT', 'X-402-Payment'];
      expect(headers, each.operationId).toEqual(expected.map((name) => ({ name, required: undefined })));
    }
    const schemes = Object.values<{ type: string; in?: string }>(document.components.securitySchemes);
    expect(schemes.filter(({ type, in: place }) => type === 'apiKey' && place === 'header')).toEqual([]);
  });

  it('answer 402 to a proof that cannot be read, which the answer explains', async () => {
    for (const { path, method, parameters = [], responses } of paid()) {
      const headers = parameters.filter((one) => one.in === 'header');
      for (const { name } of headers) {
        for (const proof of ['no base64!', Buffer.from('no JSON').toString('base64'), Buffer.from('{}').toString('base64')]) {
          const response = await fetch(served.url + path, { method: method.toUpperCase(), headers: { [name]: proof } });
          expect([path, name, response.status]).toEqual([path, name, 402]);
        }
      }
      const { description } = answerOf(document, { responses } as Operation, 402)!;
      expect(description, path).toMatch(/malformed/);
    }
  });
});

describe('documented rules on two parameters', () => {
  it('name `horizon` and `horizons` as alternatives in both, where the service rejects them together', async () => {
    const both = operationsOf(document).filter(({ parameters = [] }) => parameters.some(({ name }) => name === 'horizons'));
    const exclusive: string[] = [];
    for (const { path, parameters = [], operationId } of both) {
      const rejects = path === '/ws/signal' || (await get(`${path}?horizon=7d&horizons=all`)).status === 400;
      if (rejects) exclusive.push(operationId);
      const names = (name: string, other: string) =>
        parameters.find((one) => one.name === name)!.description!.includes(`not with \`${other}\``);
      expect([operationId, names('horizon', 'horizons'), names('horizons', 'horizon')]).toEqual([operationId, rejects, rejects]);
    }
    expect(exclusive.length).toBeGreaterThanOrEqual(5);
  });

  it('name the order of two days', () => {
    const ranges = operationsOf(document).flatMap(({ operationId, requestBody }) => {
      const fields = (requestBody && resolved(document, requestBody.content['application/json'].schema).properties) ?? {};
      return 'from' in fields && 'to' in fields ? [{ operationId, ...fields }] : [];
    });
    expect(ranges.map(({ operationId }) => operationId)).toContain('runGetTrackRecord');
    for (const { operationId, from, to } of ranges as { operationId: string; from: JsonSchema; to: JsonSchema }[]) {
      expect([operationId, from.description]).toEqual([operationId, expect.stringContaining('not after `to`')]);
      expect([operationId, to.description]).toEqual([operationId, expect.stringContaining('not before `from`')]);
    }
  });
});

describe('documented streams', () => {
  it('have the form of the events that are sent', async () => {
    const { responses } = operation('/api/connection');
    const schema = resolved(document, (responses[200] as Answer).content!['text/event-stream'].schema);
    const response = await get('/api/connection');
    expect(response.headers.get('content-type')).toContain('text/event-stream');
    const text = await response.text();
    expect(text).toMatch(new RegExp(schema.pattern!));
    expect(faults(schema, text)).toEqual([]);
    expect(faults(schema, 'event: other\ndata: {}\n\n')).not.toEqual([]);
  });
});

describe('examples', () => {
  it('of request bodies match their schemas', () => {
    const { acceptsBody } = inputSchemas(document);
    const shown = operationsOf(document).flatMap(({ operationId, requestBody }) => {
      const example = requestBody?.content['application/json'].example;
      return example === undefined ? [] : [[operationId, acceptsBody({ name: operationId }, example)]];
    });
    expect(shown.map(([operationId]) => operationId)).toEqual(expect.arrayContaining(['registerWebhook', 'logInWithWallet']));
    for (const [operationId, isAccepted] of shown) expect(isAccepted, String(operationId)).toBe(true);
  });

  it('contain no token or secret', () => {
    const text = JSON.stringify(document);
    for (const usable of [/eyJ[\w-]{10}/, /whsec_[\w+/]{10}/, /"signature":"0x(?!0{130})/]) expect(text).not.toMatch(usable);
  });
});
