import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Route } from '../../../../../src/http/route.ts';
import { allRoutes } from '../../../../../src/http/routes.ts';
import { createApp } from '../../../../../src/http/server.ts';
import { toInlineJsonSchema } from '../../../../../src/platform/validation.ts';
import { asTier } from '../../../../support/auth/login.ts';
import { databaseState } from '../../../../support/database/database-state.ts';
import { type Ask, type HttpAnswer, json, openAsk, type Question } from '../../../../support/http/ask.ts';
import {
  HOSTILE_BODIES,
  HOSTILE_TEXTS,
  JSON_VALUES,
  LONG_TEXT,
  LONGER_TEXT,
  tellsInsides,
  UNDECLARED_MEMBERS,
} from '../../../../support/http/hostile-values.ts';
import { bodyOf, rawExchange } from '../../../../support/http/raw.ts';
import {
  encoded,
  fieldsOf,
  pathOfRequest,
  type RequestField,
  type RequestParts,
  sampleRequest,
  valid,
} from '../../../../support/http/request-fields.ts';
import { type Served, serveApp } from '../../../../support/http/serve.ts';
import { youngService } from '../../../../support/service/full-service.ts';
import type { TestService } from '../../../../support/service/service.ts';

/** Fields that hold whatever their sender likes; of all others no hostile text is one, but those that fit. */
const FREE_TEXTS = [
  'logInWithSiwe.message',
  'registerWebhook.secret',
  'rotateWebhookSecret.secret',
  'pauseWagers.reason',
  'disableWebhook.reason',
  'composeApiKeyText.label',
];

/** What a referral code can be. */
const CODE_LIKE = ['not a number', 'infinity', 'beyond a double', 'hexadecimal', 'constructor'];

/** Texts that happen to have the form of a field. */
const FITTING: Record<string, string[]> = {
  'getRefStats.ref': CODE_LIKE,
  'logInWithWallet.signature': ['hexadecimal'],
  'logInWithSiwe.signature': ['hexadecimal'],
  'getAnswerAgain.signature': ['hexadecimal'],
  'buyOffering.signature': ['hexadecimal'],
  'fetchJobDeliverable.signature': ['hexadecimal'],
  'buyOffering.ref': CODE_LIKE,
  'buySignal.ref': CODE_LIKE,
  'buyPremiumSignal.ref': CODE_LIKE,
  'runPredictBtcDirection.ref': CODE_LIKE,
  'commitToContestMarket.signature': ['hexadecimal'],
  'createApiKey.signature': ['hexadecimal'],
  'manageAccess.signature': ['hexadecimal'],
  'revokeAccess.id': [...CODE_LIKE, 'minus zero', 'prototype'],
  'composeAccessText.revoke': [...CODE_LIKE, 'minus zero', 'prototype'],
};

/** What the characters of a token can make (RFC 6750). */
const TOKEN_LIKE = ['not a number', 'infinity', 'beyond a double', 'minus zero', 'hexadecimal', 'a number of 400 digits'];
for (const name of ['token', 'ticket']) {
  FITTING[`openWebSocket.${name}`] = [...TOKEN_LIKE, 'prototype', 'constructor', 'path upwards'];
}

for (const name of ['getPaymentFeedbackFile', 'getPaymentFeedbackCall']) {
  for (const number of ['value', 'valueDecimals']) FITTING[`${name}.${number}`] = ['minus zero'];
  for (const tag of ['tag1', 'tag2']) FITTING[`${name}.${tag}`] = [...CODE_LIKE, 'minus zero', 'prototype'];
}

/** Property runs of each field. */
const RUNS = 12;

/** Problems are short, whatever was sent. That of a sale has the terms and the calls of the record. */
const MAX_PROBLEM_CHARS = 4_500;

let service: TestService;
let served: Served;
let client: ReturnType<typeof openAsk>;
let ask: Ask;
let routes: Route[];
let fields: RequestField[];
const headers: Record<Route['access'], Record<string, string>> = {
  public: {},
  basic: {},
  premium: {},
  paid: {},
  admin: { Authorization: 'Basic eDp5' },
};

beforeAll(async () => {
  service = await youngService();
  routes = allRoutes(service.http);
  // Any text is the id of a JSON-RPC request, and each request that is in order stores a task.
  fields = fieldsOf(routes).filter(({ label }) => label !== 'sendAgentTask.id');
  // What is tried here is what comes behind limits and passwords.
  served = await serveApp(createApp(routes, { ...service.appOptions, limits: undefined, admin: () => undefined }));
  client = openAsk(served.url);
  ask = client.ask;
  for (const tier of ['basic', 'premium'] as const) headers[tier] = await asTier(service, tier);
});
afterAll(async () => {
  client?.close();
  await served?.close();
  await service?.stop();
});

/** An operation as its tier, with a request as it is or in parts. */
function askRoute(
  route: Route,
  parts: RequestParts,
  question: Question = parts.body === undefined ? {} : json(parts.body),
): Promise<HttpAnswer> {
  const method = route.method.toUpperCase();
  return ask(pathOfRequest(route, parts), { method, ...question, headers: { ...headers[route.access], ...question.headers } });
}

/** A request with one field replaced and all others valid; `undefined` omits the field. */
async function askWith({ route, place, name }: RequestField, value: unknown): Promise<HttpAnswer> {
  const sample = sampleRequest(route);
  if (place === 'path') return askRoute(route, { ...sample, params: { ...sample.params, [name]: value as string } });
  if (place === 'query') return askRoute(route, { ...sample, query: withQuery(sample.query, name, value) });
  const answer = await askRoute(route, { ...sample, body: { ...sample.body, [name]: value } });
  if (answer.status === 201) await undo(route, answer);
  return answer;
}

/** What requests change, beside texts that wait for a signature. Of sessions their number: the tier of each is read again after some minutes. */
async function stateOfRequests(): Promise<Record<string, string>> {
  const { sessions, login_nonces: _texts, ...others } = await databaseState(service.database.db);
  return { ...others, sessions: sessions.split(' ')[0] };
}

/** Tasks are kept of whatever is one: any metadata is good. */
async function stateBesideTasks(): Promise<Record<string, string>> {
  const { a2a_tasks: _tasks, a2a_messages: _messages, ...others } = await stateOfRequests();
  return others;
}

/** What the operator asks for in order is done, and a demo wallet is logged in by its name. */
function isDone({ route, schema }: RequestField, value: unknown): boolean {
  return (changesForOperator(route) || route.name === 'logInDemoWallet') && schema.safeParse(value).success;
}

const changesForOperator = ({ access, method }: Route) => access === 'admin' && method !== 'get';

function withQuery(query: string, name: string, value: unknown): string {
  const others = query.split('&').filter((part) => part !== '' && !part.startsWith(`${name}=`));
  return [...others, ...(value === undefined ? [] : [`${name}=${encoded(value as string)}`])].join('&');
}

/** Members of a body as JSON. */
function membersOf(body: Record<string, unknown>): string[] {
  return Object.entries(body).flatMap(([name, value]) => (value === undefined ? [] : [`${JSON.stringify(name)}:${JSON.stringify(value)}`]));
}

/** What was registered by a text that happens to be a fine secret. */
async function undo({ access, path }: Route, { text }: HttpAnswer): Promise<void> {
  const one = routes.find((route) => route.method === 'delete' && path.startsWith(route.path.slice(0, route.path.indexOf('/{'))))!;
  await ask(pathOfRequest(one, { params: { id: JSON.parse(text).id }, query: '' }), { method: 'DELETE', headers: headers[access] });
}

/** Problems of an answer that should refuse, and name what it refuses; none when it does. */
function faultsOf({ status, headers: sent, text }: HttpAnswer, field: string, statuses: number[] = [400]): string[] {
  const problem = sent['content-type']?.startsWith('application/problem+json') ? JSON.parse(text) : {};
  const named = problem.field === field || String(problem.field).startsWith(`${field}.`);
  return [
    ...(statuses.includes(status) ? [] : [`answers ${status}`]),
    ...(problem.success === false && problem.status === status ? [] : [`is no problem document: ${text.slice(0, 200)}`]),
    ...(named || status === 414 ? [] : [`names ${problem.field}`]),
    ...inDiscretion(text),
  ];
}

function inDiscretion(text: string): string[] {
  return [
    ...(tellsInsides(text) ? [`tells of insides: ${text.slice(0, 300)}`] : []),
    ...(text.length > MAX_PROBLEM_CHARS ? [`has ${text.length} characters`] : []),
  ];
}

/** Problems of an answer to something that nobody need refuse. */
function failuresOf({ status, text, headers }: HttpAnswer): string[] {
  if (status < 400) return [];
  // A browser gets a page that loads again by itself.
  const isPage = headers['content-type']?.startsWith('text/html') === true;
  const waits = status === 503 && (isPage ? headers['retry-after'] !== undefined : JSON.parse(text).retryable === true);
  return [...(status < 500 || status === 501 || waits ? [] : [`answers ${status}: ${text.slice(0, 200)}`]), ...inDiscretion(text)];
}

const labelled = (label: string, what: string, faults: string[]) => faults.map((fault) => `${label}, ${what}: ${fault}`);

const typeOf = ({ schema }: RequestField) => toInlineJsonSchema(schema, { io: 'input', unrepresentable: 'any' }).type;

/** Asks about each field in turn, and gathers what is wrong. */
async function forFields(of: RequestField[], look: (field: RequestField) => Promise<string[]>): Promise<string[]> {
  const wrong: string[] = [];
  for (const field of of) wrong.push(...(await look(field)));
  return wrong;
}

const at = (...places: RequestField['place'][]) => fields.filter(({ place }) => places.includes(place));

describe('the tested fields', () => {
  it('are those of every operation with fields', () => {
    const declared = routes.filter(({ params, query, body }) => params ?? query ?? body).map(({ name }) => name);
    expect(declared.length).toBeGreaterThan(15);
    expect(new Set(fields.map(({ route }) => route.name))).toEqual(new Set(declared));
    expect(fields.map(({ label }) => label)).toEqual(expect.arrayContaining(FREE_TEXTS));
  });

  it('are tested in otherwise valid requests', async () => {
    const operations = routes.filter((route) => (route.params ?? route.query ?? route.body) && !changesForOperator(route));
    for (const route of operations) {
      const answer = await askRoute(route, sampleRequest(route));
      expect(failuresOf(answer), route.name).toEqual([]);
      if (answer.status !== 400) continue;
      // By a rule that the schema cannot express.
      expect(JSON.parse(answer.text), route.name).toMatchObject({
        field: expect.stringMatching(/^(?:url|message|secret|weekId|predictionId|txHash)$/),
      });
    }
  });
});

describe('a hostile value', () => {
  it('is rejected by the name of its field', async () => {
    const before = await stateOfRequests();
    const wrong = await forFields(fields, async (field) => {
      const lines: string[] = [];
      for (const [what, text] of Object.entries(HOSTILE_TEXTS)) {
        if (isDone(field, text)) continue;
        const answer = await askWith(field, text);
        // What is no Unicode cannot be read as a path at all.
        const name = field.place === 'path' && what === 'lone surrogate' ? 'path' : field.name;
        const mayFit = FREE_TEXTS.includes(field.label) || FITTING[field.label]?.includes(what);
        lines.push(...labelled(field.label, what, mayFit ? failuresOf(answer) : faultsOf(answer, name)));
      }
      return lines;
    });
    expect(wrong).toEqual([]);
    expect(await stateOfRequests()).toEqual(before);
  });

  it('is rejected also where it contains a valid one', async () => {
    const texts = fields.filter((field) => (field.place !== 'body' || typeOf(field) === 'string') && !FREE_TEXTS.includes(field.label));
    const wrong = await forFields(texts, async (field) => {
      const good = String(fc.sample(valid(field.schema), { seed: 3, numRuns: 1 })[0]);
      const lines: string[] = [];
      for (const [before, after] of [
        [' ', ''],
        ['', ' '],
        ['', '\n'],
        ['', '\u0000'],
        ['', "'"],
        ['[', ']'],
        [`${good}\n`, ''],
      ]) {
        const text = `${before}${good}${after}`;
        lines.push(...labelled(field.label, JSON.stringify(text), faultsOf(await askWith(field, text), field.name)));
      }
      return lines;
    });
    expect(wrong).toEqual([]);
  });

  it('of any length is rejected and not echoed', async () => {
    const before = await stateOfRequests();
    const wrong = await forFields(fields, async (field) => {
      const [long, longer] = [await askWith(field, LONG_TEXT), await askWith(field, LONGER_TEXT)];
      const isFree = FREE_TEXTS.includes(field.label);
      return [
        ...labelled(field.label, 'long', isFree ? failuresOf(long) : faultsOf(long, field.name)),
        ...labelled(field.label, 'longer', faultsOf(longer, field.name, field.place === 'body' ? [400] : [414])),
        ...[long, longer].filter(({ text }) => text.includes('z'.repeat(300))).map(() => `${field.label} tells it again`),
      ];
    });
    expect(wrong).toEqual([]);
    expect(await stateOfRequests()).toEqual(before);
  });

  it('pollutes no prototype', () => {
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
    expect(Object.keys(Object.prototype)).toEqual([]);
  });
});

describe('a query parameter', () => {
  it('that is empty or repeated is rejected by name', async () => {
    const wrong = await forFields(at('query'), async (field) => {
      const { route, name } = field;
      const sample = sampleRequest(route);
      const good = encoded(String(fc.sample(valid(field.schema), { seed: 2, numRuns: 1 })[0]));
      // A form sends its empty fields, which filter nothing.
      const takesEmpty = field.schema.safeParse('').success;
      const queries = {
        ...(!takesEmpty && { empty: `${name}=`, bare: name }),
        twice: `${name}=${good}&${name}=${good}`,
        thrice: `${name}&${name}=${good}&${name}=`,
      };
      const lines: string[] = [];
      for (const [what, query] of Object.entries(queries)) {
        const answer = await askRoute(route, {
          ...sample,
          query: [withQuery(sample.query, name, undefined), query].filter(Boolean).join('&'),
        });
        lines.push(...labelled(field.label, what, faultsOf(answer, name)));
      }
      return lines;
    });
    expect(wrong).toEqual([]);
  });

  it('that is required is requested by name', async () => {
    const required = at('query', 'body').filter((field) => field.required);
    expect(required.length).toBeGreaterThan(8);
    const wrong = await forFields(required, async (field) =>
      labelled(field.label, 'left out', faultsOf(await askWith(field, undefined), field.name)),
    );
    expect(wrong).toEqual([]);
  });

  it('that is undeclared changes nothing', async () => {
    for (const route of routes.filter(({ method, path }) => method === 'get' && !path.includes('{'))) {
      const sample = sampleRequest(route);
      const plain = await askRoute(route, sample);
      for (const query of ['__proto__[polluted]=1&constructor=x&toString=y&%00=1&=&&&%ED%A0%80=2', `${'q=1&'.repeat(900)}`]) {
        const answer = await askRoute(route, { ...sample, query: [sample.query, query].filter(Boolean).join('&') });
        expect([answer.status, ...failuresOf(answer)], `${route.name} ${query.slice(0, 40)}`).toEqual([plain.status]);
      }
    }
  });
});

describe('a body field', () => {
  it('of another type is rejected by name', async () => {
    const wrong = await forFields(at('body'), async (field) => {
      const type = typeOf(field);
      const lines: string[] = [];
      for (const [of, values] of Object.entries(JSON_VALUES).filter(([name]) => name !== type)) {
        // Of more than one type, such as null beside a list.
        for (const value of values.filter((one) => !field.schema.safeParse(one).success)) {
          lines.push(...labelled(field.label, `${of} ${JSON.stringify(value)}`, faultsOf(await askWith(field, value), field.name)));
        }
      }
      return lines;
    });
    expect(wrong).toEqual([]);
  });

  it('with a number is accepted in its range only', async () => {
    const numbers = at('body').filter((field) => typeOf(field) === 'integer');
    expect(numbers.length).toBeGreaterThan(2);
    for (const field of numbers) {
      const sample = sampleRequest(field.route);
      for (const text of ['1e400', '-1e400', '1e21', '9007199254740993', '-1', '0.5', '1e-7', '"1"', '[1]', '{"$numberLong":"1"}']) {
        const members = [...membersOf({ ...sample.body, [field.name]: undefined }), `"${field.name}":${text}`];
        const answer = await askRoute(field.route, sample, { ...json(null), body: `{${members.join(',')}}` });
        expect(faultsOf(answer, field.name), `${field.label} ${text}`).toEqual([]);
      }
      expect(failuresOf(await askWith(field, -0)), field.label).toEqual([]);
    }
  });

  it('that is undeclared is rejected by name', async () => {
    for (const route of routes.filter(({ body }) => body !== undefined)) {
      const sample = sampleRequest(route);
      for (const [name, value] of UNDECLARED_MEMBERS) {
        const members = [`${JSON.stringify(name)}:${value}`, ...membersOf(sample.body!)];
        const answer = await askRoute(route, sample, { ...json(null), body: `{${members.join(',')}}` });
        expect(faultsOf(answer, name), `${route.name} ${name}`).toEqual([]);
      }
    }
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });
});

describe('a hostile body', () => {
  const withBody = () => routes.filter(({ body }) => body !== undefined);

  it.each(Object.entries(HOSTILE_BODIES))('that is not an object is rejected: %s', async (_, body) => {
    for (const route of withBody()) {
      const answer = await askRoute(route, sampleRequest(route), { ...json(null), body });
      expect(faultsOf(answer, 'body'), route.name).toEqual([]);
    }
  });

  it('that is nested deeply, or too long, is rejected', async () => {
    for (const route of withBody()) {
      const sample = sampleRequest(route);
      const [name] = Object.keys(route.body!.shape);
      const deep = await askRoute(route, sample, { ...json(null), body: `{"${name}":${'{"a":'.repeat(9_000)}1${'}'.repeat(9_000)}}` });
      expect(faultsOf(deep, name), route.name).toEqual([]);
      const long = await askRoute(route, sample, json({ [name]: 'z'.repeat(70_000) }));
      expect(faultsOf(long, 'body', [413]), route.name).toEqual([]);
    }
  });

  it.each([
    ['text/plain', 'Content-Type'],
    ['application/x-www-form-urlencoded', 'Content-Type'],
    ['multipart/form-data; boundary=x', 'Content-Type'],
    ['application/jsonx', 'Content-Type'],
    ['nonsense', 'Content-Type'],
    ['application/json; charset=klingon', 'body'],
  ])('of another type is rejected: %s', async (type, field) => {
    for (const route of withBody()) {
      const sample = sampleRequest(route);
      const answer = await askRoute(route, sample, { headers: { 'Content-Type': type }, body: JSON.stringify(sample.body) });
      expect(faultsOf(answer, field, [415]), route.name).toEqual([]);
    }
  });

  it('that is compressed is rejected', async () => {
    for (const route of withBody()) {
      const question = { headers: { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' }, body: 'x' };
      expect(faultsOf(await askRoute(route, sampleRequest(route), question), 'body', [415]), route.name).toEqual([]);
    }
  });

  it('that is missing is requested', async () => {
    for (const route of withBody()) {
      const answer = await askRoute(route, sampleRequest(route), {});
      if (route.bodyOptional !== true) expect(faultsOf(answer, 'body'), route.name).toEqual([]);
      else expect(answer, route.name).toMatchObject({ status: (await askRoute(route, sampleRequest(route), json({}))).status });
    }
  });

  it('changes nothing where none is read', async () => {
    for (const route of routes.filter(({ method, body }) => method === 'get' && body === undefined)) {
      const sample = sampleRequest(route);
      const plain = await askRoute(route, sample);
      for (const body of ['{"horizon":"2d"}', '{not JSON', '\u0000'.repeat(1_000)]) {
        expect((await askRoute(route, sample, { ...json(null), body })).status, route.name).toBe(plain.status);
      }
    }
  });
});

describe('fuzzing', () => {
  it('a field yields a rejection by name or a success, never a 500', async () => {
    const before = await stateBesideTasks();
    for (const field of fields) {
      const values =
        field.place === 'body'
          ? fc.oneof(fc.jsonValue(), anyText, valid(field.schema))
          : fc.oneof(anyText, valid(field.schema).map(String));
      const property = fc.asyncProperty(values, async (value) => {
        // An empty or dotted segment is another path.
        fc.pre(field.place !== 'path' || !/^\.{0,2}$/.test(value as string));
        // Names of hosts would be looked up.
        fc.pre(!(typeof value === 'string' && /^https?:/i.test(value)) && !isDone(field, value));
        const answer = await askWith(field, value);
        const isTaken = field.schema.safeParse(field.place === 'body' ? JSON.parse(JSON.stringify(value)) : value).success;
        const isText = field.place !== 'path' || (value as string).isWellFormed();
        expect(isTaken ? failuresOf(answer) : faultsOf(answer, isText ? field.name : 'path')).toEqual([]);
      });
      await fc.assert(property, { numRuns: RUNS }).catch((error) => {
        throw new Error(`${field.label}: ${error.message}`, { cause: error });
      });
    }
    expect(await stateBesideTasks()).toEqual(before);
  });

  it('a body yields a rejection by name', async () => {
    const before = await stateOfRequests();
    for (const route of routes.filter(({ body }) => body !== undefined)) {
      const names = new Set(['body', ...Object.keys(route.body!.shape)]);
      const objects = fc.dictionary(fc.oneof(fc.constantFrom(...names), fc.string()), fc.jsonValue(), { maxKeys: 8 });
      const property = fc.asyncProperty(fc.oneof(fc.jsonValue(), objects), async (value) => {
        fc.pre(!route.body!.safeParse(value).success);
        const answer = await askRoute(route, sampleRequest(route), json(value));
        const { field } = JSON.parse(answer.text);
        expect(faultsOf(answer, field)).toEqual([]);
        const own = typeof value === 'object' && value !== null ? Object.keys(value) : [];
        expect(
          [...names, ...own].some((name) => field === name || field.startsWith(`${name}.`) || name.startsWith(field.slice(0, 100))),
        ).toBe(true);
      });
      await fc.assert(property, { numRuns: 3 * RUNS });
    }
    expect(await stateOfRequests()).toEqual(before);
  });
});

/** Of all of Unicode, and of what is none. */
const anyText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom('\ud800', '\udfff7d', '__proto__'),
);

describe('a hostile header', () => {
  const TOKENS = [
    'Bearer',
    'Bearer ',
    'Basic eDp5',
    'Bearer a.b.c',
    `Bearer ${'x'.repeat(9_000)}`,
    'Bearer null',
    'Bearer {"$gt":""}',
    'x',
  ];

  it('with an invalid token is rejected by name', async () => {
    const isGated = ({ access, isWebSocket }: Route) => (access === 'basic' || access === 'premium') && isWebSocket !== true;
    for (const route of routes.filter(isGated)) {
      for (const token of TOKENS) {
        const answer = await askRoute(route, sampleRequest(route), { headers: { Authorization: token } });
        expect(faultsOf(answer, 'Authorization', [401]), `${route.name} ${token.slice(0, 40)}`).toEqual([]);
        expect(answer.headers['www-authenticate'], route.name).toContain('Bearer');
      }
    }
  });

  /** None of these makes a server refuse a request, so one request carries a value of each. */
  const TOLERATED: Record<string, string[]> = {
    Accept: ['', ';', '*', 'text/html;q=2', `${'a/b,'.repeat(1_000)}`, 'application/json;q=0', '{"$gt":""}', 'text/<script>'],
    'If-None-Match': ['*', '""', 'W/', `"${'a'.repeat(5_000)}"`, ',,,,', 'W/"x", "y"'],
    'Accept-Encoding': ['', 'gzip;q=9', 'br,,', 'zstd, x'.repeat(500)],
    'X-Forwarded-For': ['', '::::', '1.2.3.4, <script>', 'x'.repeat(5_000)],
    'X-Request-Id': ['<script>', 'x'.repeat(5_000), '../../x'],
    Range: ['bytes=0-', 'bytes=9-1', 'x'],
  };
  const CHECKED: Record<string, string[]> = {
    'X-402-Payment': ['{"$gt":""}', 'x'.repeat(5_000)],
    Host: ['', 'evil.example', '127.0.0.1:99999'],
  };

  /** As many sets of headers as the longest list has values. */
  function setsOf(values: Record<string, string[]>): Record<string, string>[] {
    const count = Math.max(...Object.values(values).map(({ length }) => length));
    return Array.from({ length: count }, (_, index) =>
      Object.fromEntries(Object.entries(values).map(([name, list]) => [name, list[index % list.length]])),
    );
  }

  const groups: [string, Record<string, string[]>][] = [
    ['tolerated', TOLERATED],
    ...Object.entries(CHECKED).map(([name, values]): [string, Record<string, string[]>] => [name, { [name]: values }]),
  ];
  it.each(groups)('with an invalid value causes no 500: %s', async (_, values) => {
    for (const route of routes.filter(({ method }) => method === 'get')) {
      for (const sent of setsOf(values)) {
        const answer = await askRoute(route, sampleRequest(route), { headers: sent });
        expect(failuresOf(answer), `${route.name} ${JSON.stringify(sent).slice(0, 200)}`).toEqual([]);
        if ('X-Request-Id' in sent) expect(answer.headers['x-request-id']).not.toBe(sent['X-Request-Id']);
      }
    }
  });
});

describe('bytes that are not HTTP', () => {
  it.each([
    ['a bare line break in a header', 'GET /health HTTP/1.1\r\nHost: a\nX: b\r\n c\r\n\r\n'],
    ['NUL in the path', 'GET /api/svc/\u0000 HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['two lengths', 'POST /api/svc/oracle/verify HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}'],
    ['length and chunks', 'POST /api/svc/oracle/verify HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}'],
    ['no length that is one', 'POST /api/svc/oracle/verify HTTP/1.1\r\nHost: a\r\nContent-Length: -2\r\n\r\n{}'],
    ['no HTTP', '{"wallet":1}\r\n\r\n'],
  ])('are rejected on the socket: %s', async (_, bytes) => {
    const answer = await rawExchange(served.url, bytes);
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(bodyOf(answer)).toMatchObject({ success: false, status: 400 });
    expect(tellsInsides(answer)).toBe(false);
  });

  const NOWHERE = [
    '//evil.example/%2f..',
    '/%2e%2e/%2e%2e/etc/passwd',
    '/..;/api/status',
    '/api//status',
    '/%00',
    '/\\..\\x',
    '/docs/../../package.json',
    `/${'a/'.repeat(1_900)}`,
  ];

  it('or an unknown path return 404', async () => {
    for (const path of NOWHERE) {
      const answer = await ask(path);
      expect([400, 404], path).toContain(answer.status);
      expect([...failuresOf(answer), JSON.parse(answer.text).success], path.slice(0, 60)).toEqual([false]);
    }
  });

  it('or a path of any length are not echoed in full', async () => {
    const answer = await ask(`/${'z'.repeat(9_000)}`);
    expect([answer.status, answer.text.length < MAX_PROBLEM_CHARS]).toEqual([414, true]);
  });
});
