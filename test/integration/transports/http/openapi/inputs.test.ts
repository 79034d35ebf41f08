import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { isOracleError } from '../../../../../src/errors.ts';
import { toSigningKey } from '../../../../../src/events/webhooks/call.ts';
import { buildOpenApiDocument } from '../../../../../src/http/openapi/document.ts';
import type { Route } from '../../../../../src/http/route.ts';
import { allRoutes } from '../../../../../src/http/routes.ts';
import { parseTarget } from '../../../../../src/platform/outbound/guarded.ts';
import { EDGE_TEXTS, EDGE_VALUES } from '../../../../support/http/edge-values.ts';
import { inputSchemas } from '../../../../support/http/input-schemas.ts';
import type { OpenApi } from '../../../../support/http/openapi.ts';
import type { JsonSchema } from '../../../../support/http/reply-schema.ts';
import { fieldsOf, type RequestField, valid } from '../../../../support/http/request-fields.ts';
import { type TestService, testService } from '../../../../support/service/service.ts';

/** Values drawn for each field, beside those at the edges. */
const RUNS = 20;

/** Fields of bodies that their handlers check further, by what checks them. */
const CHECKED_BY_HANDLER: Record<string, (value: string) => unknown> = {
  url: (text) => parseTarget(text, false),
  secret: (text) => toSigningKey(text),
};

/** Fields of which the document describes only the usual spellings. */
const NARROWER_IN_DOCUMENT = new Set(['url', 'secret', 'horizons']);

let service: TestService;
let routes: Route[];
let fields: RequestField[];
let schemas: ReturnType<typeof inputSchemas>;

beforeAll(async () => {
  service = await testService(0);
  routes = allRoutes(service.http);
  fields = fieldsOf(routes);
  schemas = inputSchemas(JSON.parse(JSON.stringify(buildOpenApiDocument(routes, { publicUrl: 'https://oracle.test' }))) as OpenApi);
});
afterAll(() => service.stop());

/** Whether the server accepts a value, as it is sent: text in a URL, JSON in a body. */
function validates({ name, place, schema }: RequestField, value: unknown): boolean {
  const sent = place === 'body' ? value : String(value);
  return schema.safeParse(sent).success && (place !== 'body' || passesHandler(name, sent));
}

function passesHandler(name: string, value: unknown): boolean {
  try {
    if (typeof value === 'string') CHECKED_BY_HANDLER[name]?.(value);
    return true;
  } catch (error) {
    if (isOracleError(error, 'INPUT_INVALID')) return false;
    throw error;
  }
}

/** A value of a URL as the document types it. */
function typed(field: RequestField, text: string): unknown {
  const { type } = schemas.schemaOf(field);
  return type === 'integer' || type === 'number' ? Number(text) : text;
}

/** The edges that a schema itself names, with their neighbours. */
function ownEdges({ minimum, maximum, minLength, maxLength, enum: options = [] }: JsonSchema): unknown[] {
  const near = (edge: number | undefined) => (edge === undefined ? [] : [edge - 1, edge, edge + 1]);
  const lengths = [...near(minLength), ...near(maxLength)].filter((length) => length >= 0);
  return [...near(minimum as number), ...near(maximum as number), ...lengths.map((length) => 'a'.repeat(length)), ...options];
}

function valuesFor(field: RequestField): unknown[] {
  const drawn = fc.sample(valid(field.schema), { seed: 1, numRuns: RUNS }).filter((value) => value !== undefined);
  const values = [...EDGE_TEXTS, ...EDGE_VALUES, ...ownEdges(schemas.schemaOf(field)), ...drawn];
  return field.place === 'body' ? values : values.filter((value) => typeof value !== 'object');
}

/** EIP-55 is no regular language: the description of each address says that its checksum has to hold. */
function isWrongChecksum(value: unknown): boolean {
  return typeof value === 'string' && /^0x[0-9a-fA-F]{40}$/.test(value) && /[a-f]/.test(value) && /[A-F]/.test(value);
}

it('the server accepts what the document accepts for a parameter or body field', () => {
  expect(fields.length).toBeGreaterThan(40);
  const looser = fields.flatMap((field) =>
    valuesFor(field)
      .filter((value) => schemas.acceptsField(field, value) && !validates(field, value) && !isWrongChecksum(value))
      .map((value) => `${field.label}: ${JSON.stringify(value)}`),
  );
  expect(looser).toEqual([]);
});

it('the document accepts what the server accepts for a parameter or body field', () => {
  const stricter = fields
    .filter(({ name }) => !NARROWER_IN_DOCUMENT.has(name))
    .flatMap((field) =>
      valuesFor(field)
        .filter((value) => validates(field, value))
        .filter((value) => !schemas.acceptsField(field, field.place === 'body' ? value : typed(field, String(value))))
        .map((value) => `${field.label}: ${JSON.stringify(value)}`),
    );
  expect(stricter).toEqual([]);
});

it('the document accepts common callbacks and secrets', () => {
  const usual: Record<string, string[]> = {
    url: ['https://hooks.example.com', 'https://hooks.example.com:8443/oracle?key=a%20b&x=1', 'https://a-b.example.co/'],
    secret: [`whsec_${Buffer.alloc(32, 1).toString('base64')}`, 'a secret of more than 24 characters'],
  };
  for (const field of fields.filter(({ name }) => name in usual)) {
    for (const value of usual[field.name]) expect([value, schemas.acceptsField(field, value)]).toEqual([value, true]);
  }
});

/** Rules on several fields that a handler checks. */
const RULES: Record<string, (body: Record<string, unknown>) => boolean> = {
  replayToWebhook: ({ eventId, sinceId, sinceTime, since, until }) =>
    [eventId, sinceId, sinceTime, since].filter((start) => start !== undefined).length === 1 &&
    (until === undefined || eventId === undefined),
};

/** Every choice of the fields of a body, each with one value that it accepts; with a field that there is none of, too. */
function bodiesOf(route: Route): Record<string, unknown>[] {
  const members = fields
    .filter((field) => field.route === route && field.place === 'body')
    .map((field) => [field.name, valuesFor(field).find((value) => validates(field, value) && schemas.acceptsField(field, value))] as const);
  const chosen = members.reduce<Record<string, unknown>[]>(
    (bodies, [name, value]) => bodies.flatMap((body) => [body, { ...body, [name]: value }]),
    [{}],
  );
  return [...chosen, { ...chosen.at(-1), unknownField: 1 }];
}

it('the document and the server agree on combinations of body fields', () => {
  const withBody = routes.filter(({ body }) => body !== undefined);
  expect(withBody.length).toBeGreaterThan(10);
  for (const route of withBody) {
    for (const body of bodiesOf(route)) {
      const accepted = route.body!.safeParse(body).success && (RULES[route.name]?.(body) ?? true);
      // Which day is the earlier one no schema can say.
      if (typeof body.from === 'string' && typeof body.to === 'string' && body.from > body.to) continue;
      expect([route.name, Object.keys(body), schemas.acceptsBody(route, body)]).toEqual([route.name, Object.keys(body), accepted]);
    }
  }
});
