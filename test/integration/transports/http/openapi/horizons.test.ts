import { afterAll, beforeAll, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { allRoutes } from '../../../../../src/http/routes.ts';
import { loginToken } from '../../../../support/auth/login.ts';
import { inputSchemas } from '../../../../support/http/input-schemas.ts';
import { fetchOpenApi, type OpenApi } from '../../../../support/http/openapi.ts';
import { fieldsOf, pathOfRequest, type RequestField, sampleRequest } from '../../../../support/http/request-fields.ts';
import { type Served, serve } from '../../../../support/http/serve.ts';
import { type TestService, testService } from '../../../../support/service/service.ts';

/** In every spelling that a client may try. */
const NUMBERS = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 30];
const TEXTS = [...NUMBERS.flatMap((days) => [`${days}`, `${days}d`]), '7D', '07', '7 ', '-7', '7.0', '7 days', 'd', 'all', 'null'];
const ACCEPTED = ['1', '1d', '2', '2d', '3', '3d', '7', '7d'];

let service: TestService;
let served: Served;
let document: OpenApi;
let fields: RequestField[];
let token: string;

beforeAll(async () => {
  service = await testService(0);
  served = await serve(service);
  document = await fetchOpenApi(served.url);
  fields = fieldsOf(allRoutes(service.http)).filter(({ name }) => name === 'horizon');
  token = await loginToken(service, 'premium');
});
afterAll(async () => {
  await served?.close();
  await service?.stop();
});

/** Whether the running service takes a value: it rejects a field by its name. */
async function takes(field: RequestField, value: unknown): Promise<boolean> {
  const { route, place } = field;
  const sample = sampleRequest(route);
  const params = place === 'path' ? { ...sample.params, horizon: String(value) } : sample.params;
  const query = new URLSearchParams(sample.query);
  if (place === 'query') query.set('horizon', String(value));
  const path = pathOfRequest(route, { params, query: query.toString() });
  if (route.isWebSocket === true) return opens(path);
  const response = await fetch(served.url + path, {
    method: route.method.toUpperCase(),
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json', Accept: 'application/json' },
    ...(sample.body !== undefined && { body: JSON.stringify(place === 'body' ? { ...sample.body, horizon: value } : sample.body) }),
  });
  const text = await response.text();
  return response.status !== 400 || JSON.parse(text).field !== 'horizon';
}

function opens(path: string): Promise<boolean> {
  const socket = new WebSocket(served.url.replace('http', 'ws') + path, { headers: { Authorization: `Bearer ${token}` } });
  return new Promise((resolve, reject) => {
    socket.on('open', () => {
      socket.close();
      resolve(true);
    });
    socket.on('unexpected-response', (_request, { statusCode }) => resolve(statusCode !== 400));
    socket.on('error', reject);
  });
}

it('every horizon of a request is documented exactly as the service takes it', async () => {
  const { acceptsField, schemaOf } = inputSchemas(document);
  expect(fields.length).toBeGreaterThan(15);
  const different: string[] = [];
  for (const field of fields) {
    // Values of a URL are text, which a client with a type of its own writes as such.
    const values = field.place === 'body' ? [...TEXTS, ...NUMBERS] : TEXTS;
    const isNumber = (value: unknown) => typeof value === 'string' && String(Number(value)) === value;
    const accepts = (value: unknown) =>
      acceptsField(field, value) || (field.place !== 'body' && isNumber(value) && acceptsField(field, Number(value)));
    for (const value of values) {
      const [inDocument, byService] = [accepts(value), await takes(field, value)];
      if (inDocument !== byService) different.push(`${field.label} ${JSON.stringify(value)}: ${inDocument}, ${byService}`);
    }
    const taken = values.filter((value) => typeof value === 'string' && accepts(value));
    expect([field.label, taken.toSorted()]).toEqual([field.label, ACCEPTED]);
    expect([field.label, String(schemaOf(field).default ?? '7d')]).toEqual([field.label, expect.stringMatching(/^7d?$/)]);
  }
  expect(different).toEqual([]);
});

it('the schemas that an assistant reads list each horizon that the skill takes, none of them is the default but 7d', async () => {
  const { skills } = (await (await fetch(`${served.url}/api/svc/skills`)).json()) as {
    skills: { id: string; inputSchema: { properties: Record<string, { enum?: string[]; default?: string; description: string }> } }[];
  };
  const horizons = skills.flatMap(({ id, inputSchema }) =>
    inputSchema.properties.horizon === undefined ? [] : [[id, inputSchema.properties.horizon] as const],
  );
  expect(horizons.map(([id]) => id)).toContain('predict_btc_direction');
  for (const [id, schema] of horizons) expect([id, schema]).toEqual([id, expect.objectContaining({ enum: ['1d', '2d', '3d', '7d'] })]);
});
