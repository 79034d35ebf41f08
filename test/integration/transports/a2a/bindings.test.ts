import { type Task, TaskState } from '@a2a-js/sdk';
import {
  type Client,
  ClientFactory as OldFactory,
  ClientFactoryOptions as OldOptions,
  RestTransportFactory as OldRest,
  JsonRpcTransportFactory as OldRpc,
} from 'a2a-sdk-0.3/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { MESSAGE_LIMITS } from '../../../../src/a2a/plan.ts';
import { message, rpcOf } from '../../../support/a2a/a2a-bench.ts';
import { a2aClientAt, asTask, getRejectionMetadata } from '../../../support/a2a/a2a-client.ts';
import { dataPart, findContent, messageOf, textPart } from '../../../support/agent-clients/a2a.ts';
import { loginToken } from '../../../support/auth/login.ts';
import { type Served, serve } from '../../../support/http/serve.ts';
import { HARDLY_LIMITED, type TestService, testService } from '../../../support/service/service.ts';

const BINDINGS = ['JSONRPC', 'HTTP+JSON'] as const;
const MARKET = { skill: 'get_market_context', input: { include: ['price'] } };

let service: TestService;
let served: Served;
let tokens: Record<'basic' | 'premium', string>;

beforeAll(async () => {
  service = await testService(1, { ...HARDLY_LIMITED, TRUST_PROXY: '1', PUBLIC_URL: 'http://127.0.0.1:1' });
  served = await serve(service);
  tokens = { basic: await loginToken(service, 'basic'), premium: await loginToken(service, 'premium') };
});
afterAll(async () => {
  await served?.close();
  await service?.stop();
});

const clientAt = (binding: (typeof BINDINGS)[number], token?: string) => a2aClientAt(served.url, binding, token);
const stateOf = (task: Task) => TaskState[task.status!.state];

async function all<T>(events: AsyncIterable<T>): Promise<T[]> {
  const seen: T[] = [];
  for await (const event of events) seen.push(event);
  return seen;
}

describe.each(BINDINGS)('the official client of protocol 1.0 over %s', (binding) => {
  test('completes a task and reads it again', async () => {
    const client = await clientAt(binding);
    const task = asTask(await client.sendMessage(messageOf([dataPart(MARKET)])));
    expect(stateOf(task)).toBe('TASK_STATE_COMPLETED');
    expect(task.artifacts).toMatchObject([{ name: 'get_market_context', metadata: { skill: 'get_market_context', tier: 'public' } }]);
    expect(findContent(task.artifacts[0].parts, 'data')).toMatchObject({ include: ['price'], price: { currency: 'USD' } });
    expect(findContent(task.artifacts[0].parts, 'text')).toContain('Bitcoin:');
    expect(await client.getTask({ tenant: '', id: task.id, historyLength: undefined })).toEqual(task);
    expect((await client.getTask({ tenant: '', id: task.id, historyLength: 0 })).history).toEqual([]);
  });

  test('sends with returnImmediately and polls until completion', async () => {
    const client = await clientAt(binding);
    const configuration = { acceptedOutputModes: [], returnImmediately: true, historyLength: 1, taskPushNotificationConfig: undefined };
    const task = asTask(await client.sendMessage({ ...messageOf([dataPart(MARKET)]), configuration }));
    const now = async () => stateOf(await client.getTask({ tenant: '', id: task.id, historyLength: undefined }));
    await expect.poll(now).toBe('TASK_STATE_COMPLETED');
  });

  test('streams a task', async () => {
    const events = await all((await clientAt(binding)).sendMessageStream(messageOf([dataPart(MARKET)])));
    expect(events.map(({ payload }) => payload?.$case)).toEqual(['task', 'statusUpdate', 'artifactUpdate', 'statusUpdate']);
  });

  test('continues a task that asks for input', async () => {
    const client = await clientAt(binding, tokens.basic);
    const asked = asTask(await client.sendMessage(messageOf([textPart('good morning')])));
    expect(stateOf(asked)).toBe('TASK_STATE_INPUT_REQUIRED');
    const { example } = findContent(asked.status!.message!.parts, 'data') as { example: object };
    expect(example).toMatchObject({ skill: 'predict_btc_direction' });
    const done = asTask(await client.sendMessage(messageOf([textPart('the bitcoin price')], { taskId: asked.id })));
    expect([stateOf(done), done.id]).toEqual(['TASK_STATE_COMPLETED', asked.id]);
    expect(findContent(done.status!.message!.parts, 'text')).toContain('"include":["price"]');
  });

  test('lists only its own tasks, page by page', async () => {
    const client = await clientAt(binding, tokens.premium);
    const contextId = crypto.randomUUID();
    for (let count = 0; count < 3; count++) await client.sendMessage(messageOf([dataPart(MARKET)], { contextId }));
    const ask = {
      tenant: '',
      contextId,
      status: 0,
      pageSize: 2,
      historyLength: 0,
      statusTimestampAfter: undefined,
      includeArtifacts: false,
    };
    const first = await client.listTasks({ ...ask, pageToken: '' });
    const second = await client.listTasks({ ...ask, pageToken: first.nextPageToken });
    expect([first.tasks.length, first.totalSize, second.tasks.length, second.nextPageToken]).toEqual([2, 3, 1, '']);
    expect(new Set([...first.tasks, ...second.tasks].map(({ id }) => id)).size).toBe(3);
    for (const other of [tokens.basic, undefined]) {
      expect((await (await clientAt(binding, other)).listTasks({ ...ask, pageToken: '' })).totalSize).toBe(0);
      const reading = (await clientAt(binding, other)).getTask({ tenant: '', id: first.tasks[0].id, historyLength: undefined });
      expect(await getRejectionMetadata(reading)).toMatchObject({ code: 'NOT_FOUND', field: 'id' });
    }
  });

  test('cancels a task once', async () => {
    const client = await clientAt(binding);
    const { id } = asTask(await client.sendMessage(messageOf([textPart('good morning')])));
    const cancel = () => client.cancelTask({ tenant: '', id, metadata: undefined });
    expect(stateOf(await cancel())).toBe('TASK_STATE_CANCELED');
    expect(await getRejectionMetadata(cancel())).toMatchObject({ code: 'CONFLICT' });
    await expect(cancel()).rejects.toMatchObject({ reason: 'TASK_NOT_CANCELABLE' });
  });

  test('gets an error at once when it subscribes to an ended task', async () => {
    const client = await clientAt(binding);
    const { id } = asTask(await client.sendMessage(messageOf([dataPart(MARKET)])));
    expect(await getRejectionMetadata(all(client.resubscribeTask({ tenant: '', id })))).toMatchObject({ code: 'CONFLICT' });
  });

  test.each([
    ['data', dataPart({ skill: 'predict_btc_direction', input: {} })],
    ['text', textPart('Where is bitcoin going over the next week?')],
  ])('gets no gated value without a token (%s)', async (_form, part) => {
    const client = await clientAt(binding);
    const task = asTask(await client.sendMessage(messageOf([part])));
    expect(stateOf(task)).toBe('TASK_STATE_REJECTED');
    expect(task.artifacts).toEqual([]);
    expect(findContent(task.status!.message!.parts, 'data')).toMatchObject({ code: 'UNAUTHENTICATED' });
    expect(findContent(task.status!.message!.parts, 'text')).toContain('POST /api/svc/oracle/verify');
  });
});

describe.each(['JSONRPC', 'HTTP+JSON'] as const)('the official client of protocol 0.3 over %s', (binding) => {
  let client: Client;
  beforeAll(async () => {
    const transport = binding === 'JSONRPC' ? new OldRpc() : new OldRest();
    const card = await (await fetch(`${served.url}/.well-known/agent-card.json`)).json();
    const here = (text: string) => text.replaceAll('http://127.0.0.1:1/', `${served.url}/`);
    const options = OldOptions.createFrom(OldOptions.default, { transports: [transport], preferredTransports: [binding] });
    client = await new OldFactory(options).createFromAgentCard(JSON.parse(here(JSON.stringify(card))));
  });

  test('completes a task from the card, streams one, and reads it', async () => {
    const older = (data: Record<string, unknown>) => ({
      message: {
        kind: 'message' as const,
        messageId: crypto.randomUUID(),
        role: 'user' as const,
        parts: [{ kind: 'data' as const, data }],
      },
    });
    const task = await client.sendMessage(older(MARKET));
    if (task.kind !== 'task') throw new Error('a task was expected');
    expect(task).toMatchObject({ status: { state: 'completed' }, artifacts: [{ name: 'get_market_context' }] });
    expect(await client.getTask({ id: task.id })).toMatchObject({ id: task.id, status: { state: 'completed' } });
    const events = await all(client.sendMessageStream(older(MARKET)));
    expect(events.map(({ kind }) => kind)).toEqual(['task', 'status-update', 'artifact-update', 'status-update']);
    await expect(client.sendMessage(older({ skill: 'nope' }))).rejects.toThrow('Unknown skill');
    await expect(client.cancelTask({ id: task.id })).rejects.toThrow();
  });
});

const long = (size: number) => 'x'.repeat(size);
const nested = (levels: number): unknown => JSON.parse(`${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`);

/** Request and expected error: JSON-RPC code, HTTP status over HTTP+JSON, our code and field. */
const BAD_MESSAGES: [string, object, [rpc: number, http: number, code: string, field: string]][] = [
  ['an unknown skill', message({ data: { skill: 'nope' } }), [-32602, 400, 'INPUT_INVALID', 'skill']],
  [
    'a wrong input',
    message({ data: { skill: 'get_market_context', input: { include: ['x'] } } }),
    [-32602, 400, 'INPUT_INVALID', 'include.0'],
  ],
  ['an unknown field of the call', message({ data: { skill: 'get_market_context', args: {} } }), [-32602, 400, 'INPUT_INVALID', 'args']],
  ['nothing to verify', message({ data: { skill: 'verify_prediction', input: {} } }), [-32602, 400, 'INPUT_INVALID', 'predictionId']],
  [
    'two calls',
    { message: { ...message({}).message, parts: [{ data: MARKET }, { data: MARKET }] } },
    [-32602, 400, 'INPUT_INVALID', 'message.parts.1'],
  ],
  ['a list for a call', message({ data: [1] }), [-32602, 400, 'INPUT_INVALID', 'message.parts.0']],
  ['a file', message({ url: 'https://example.com/x.png' }), [-32005, 400, 'UNSUPPORTED_MEDIA_TYPE', 'message.parts.0']],
  ['bytes', message({ raw: 'AAAA' }), [-32005, 400, 'UNSUPPORTED_MEDIA_TYPE', 'message.parts.0']],
  ['no parts', { message: { ...message({}).message, parts: [] } }, [-32602, 400, 'INPUT_INVALID', 'message.parts']],
  ['an empty part', message({}), [-32602, 400, 'INPUT_INVALID', 'message.parts.0']],
  [
    'too many parts',
    { message: { ...message({}).message, parts: Array(21).fill({ text: 'a' }) } },
    [-32602, 400, 'INPUT_INVALID', 'message.parts'],
  ],
  ['a long text', message({ text: long(MESSAGE_LIMITS.textBytes + 1) }), [-32602, 400, 'INPUT_INVALID', 'message.parts']],
  ['a long text as JSON', message({ text: '\u0001'.repeat(1_000) }), [-32602, 400, 'INPUT_INVALID', 'message.parts']],
  [
    'large data',
    message({ data: { skill: 'predict_btc_direction', input: { x: long(MESSAGE_LIMITS.dataBytes) } } }),
    [-32602, 400, 'INPUT_INVALID', 'message.parts'],
  ],
  ['a long messageId', message({ data: MARKET }, { messageId: long(129) }), [-32602, 400, 'INPUT_INVALID', 'message.messageId']],
  ['a messageId of spaces', message({ data: MARKET }, { messageId: '  ' }), [-32602, 400, 'INPUT_INVALID', 'message.messageId']],
  ['a wild taskId', message({ data: MARKET }, { taskId: '{"$ne":1}' }), [-32602, 400, 'INPUT_INVALID', 'message.taskId']],
  ['a task of nobody', message({ data: MARKET }, { taskId: crypto.randomUUID() }), [-32001, 404, 'NOT_FOUND', 'id']],
  ['the role of the agent', message({ data: MARKET }, { role: 'ROLE_AGENT' }), [-32602, 400, 'INPUT_INVALID', 'message.role']],
  ['large metadata', message({ data: MARKET }, { metadata: { a: long(5_000) } }), [-32602, 400, 'INPUT_INVALID', 'message.metadata']],
  ['deep metadata', message({ data: MARKET }, { metadata: nested(25) }), [-32602, 400, 'INPUT_INVALID', 'message.metadata']],
  ['a deep body', message({ data: nested(60) }), [-32602, 400, 'INPUT_INVALID', 'params']],
];

describe('invalid messages', () => {
  test.each(BAD_MESSAGES)('are rejected without a task: %s', async (_what, body, [rpc, http, code, field]) => {
    const count = () => service.database.db.collection('a2a_tasks').countDocuments();
    const before = await count();
    for (const method of ['SendMessage', 'SendStreamingMessage']) {
      const { status, body: answer } = await rpcOf(served.url)(method, body);
      expect([status, answer.id, answer.error?.code]).toEqual([200, 7, rpc]);
      expect(answer.error.data[0].metadata).toMatchObject({ code, field, suggestedAction: expect.stringMatching(/\w/) });
    }
    for (const path of ['message:send', 'message:stream']) {
      const { status, body: answer } = await post(`/a2a/rest/${path}`, JSON.stringify(body));
      expect([status, answer.error.code]).toEqual([http, http]);
      expect(answer.error.details[0].metadata).toMatchObject({ code, field });
    }
    expect(JSON.stringify(await post('/a2a/rest/message:send', JSON.stringify(body))).length).toBeLessThan(2_500);
    expect(await count()).toBe(before);
  });
});

async function post(path: string, body: string, headers: Record<string, string> = {}) {
  const answer = await fetch(`${served.url}${path}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'A2A-Version': '1.0', ...headers },
    body,
  });
  // biome-ignore lint/suspicious/noExplicitAny: answers are what is tested
  return { status: answer.status, headers: answer.headers, body: (await answer.json()) as any };
}

describe('null for an optional member', () => {
  const older = { kind: 'message', messageId: '', role: 'user', parts: [{ kind: 'data', data: MARKET, metadata: null }] };
  const oldRest = { messageId: '', role: 'ROLE_USER', content: [{ data: { data: MARKET }, metadata: null }] };
  const current = { messageId: '', role: 'ROLE_USER', parts: [{ data: MARKET, metadata: null, filename: null, mediaType: null }] };
  const NONE = { taskId: null, contextId: null, metadata: null, extensions: null, referenceTaskIds: null };
  const CONFIGURATION = {
    ...{ acceptedOutputModes: null, historyLength: null, returnImmediately: null, blocking: null },
    ...{ pushNotificationConfig: null, taskPushNotificationConfig: null, pushNotification: null },
  };
  const params = (sent: object, configuration: unknown) => ({
    ...{ tenant: null, metadata: null, configuration },
    message: { ...sent, ...NONE, messageId: crypto.randomUUID() },
  });

  test.each([
    ['no configuration', null],
    ['an empty one', CONFIGURATION],
  ])('counts as absent in messages, in both versions and bindings: %s', async (_what, configuration) => {
    const rpc = rpcOf(served.url);
    const answers = [
      (await rpc('SendMessage', params(current, configuration))).body.result?.task.status.state,
      (await rpc('message/send', params(older, configuration), { 'A2A-Version': '0.3' })).body.result?.status.state,
      (await post('/a2a/rest/message:send', JSON.stringify(params(current, configuration)))).body.task?.status.state,
      (await post('/a2a/rest/v1/message:send', JSON.stringify(params(oldRest, configuration)), { 'A2A-Version': '0.3' })).body.task?.status
        .state,
    ];
    expect(answers).toEqual(['TASK_STATE_COMPLETED', 'completed', 'TASK_STATE_COMPLETED', 'TASK_STATE_COMPLETED']);
  });

  test('counts as absent in every other operation', async () => {
    const rpc = rpcOf(served.url);
    const ask = async (method: string, sent: object | null | undefined, version = '1.0') =>
      (await rpc(method, sent, { 'A2A-Version': version, Authorization: `Bearer ${tokens.premium}` })).body;
    const open = async () => (await ask('SendMessage', message({ text: 'good morning' }))).result.task.id as string;
    const [id, older, third] = [await open(), await open(), await open()];
    const nothing = { historyLength: null, metadata: null, tenant: null };
    expect((await ask('GetTask', { id, ...nothing })).result).toEqual((await ask('GetTask', { id })).result);
    expect((await ask('tasks/get', { id, ...nothing }, '0.3')).result).toEqual((await ask('tasks/get', { id }, '0.3')).result);
    const page = { contextId: null, status: null, pageSize: null, pageToken: null, statusTimestampAfter: null, includeArtifacts: null };
    expect((await ask('ListTasks', { ...nothing, ...page })).result.tasks.length).toBeGreaterThan(0);
    expect(await ask('ListTasks', null)).toEqual(await ask('ListTasks', undefined));
    const hook = { url: 'https://9.9.9.9/hook', id: null, token: null, authentication: null };
    expect((await ask('CreateTaskPushNotificationConfig', { taskId: id, ...hook, tenant: null })).result).toMatchObject({ url: hook.url });
    const set = await ask('tasks/pushNotificationConfig/set', { taskId: id, pushNotificationConfig: hook }, '0.3');
    expect(set.result).toMatchObject({ pushNotificationConfig: { url: hook.url } });
    expect(
      (await ask('tasks/pushNotificationConfig/get', { id, pushNotificationConfigId: null, metadata: null }, '0.3')).error?.code,
    ).not.toBe(-32603);
    expect((await ask('tasks/cancel', { id: older, metadata: null }, '0.3')).result.status.state).toBe('canceled');
    expect((await ask('CancelTask', { id: third, metadata: null })).result.status.state).toBe('TASK_STATE_CANCELED');
  });

  test('stays null inside what the client says', async () => {
    const body = message({ data: { skill: 'get_market_context', input: { include: null } } });
    const { error } = (await rpcOf(served.url)('SendMessage', body)).body;
    expect(error.data[0].metadata).toMatchObject({ code: 'INPUT_INVALID', field: 'include' });
    const noted = message({ data: MARKET }, { metadata: { note: null } });
    const { result } = (await rpcOf(served.url)('SendMessage', noted)).body;
    expect(result.task.history[0].metadata).toEqual({ note: null });
  });
});

describe('the version as a query parameter (A2A 1.0, section 3.6.1)', () => {
  const send = (path: string, body: object, headers: Record<string, string> = {}) =>
    post(path, JSON.stringify(body), { 'A2A-Version': '', ...headers });
  const rpc = (method: string, params: object) => ({ jsonrpc: '2.0', id: 1, method, params });

  test('is read over both bindings, in either version', async () => {
    const sent = await send('/a2a?A2A-Version=1.0', rpc('SendMessage', message({ data: MARKET })));
    expect(sent.body.result?.task.status.state).toBe('TASK_STATE_COMPLETED');
    const { id } = sent.body.result.task;
    expect((await send('/?A2A-Version=1.0', rpc('GetTask', { id }))).body.result).toMatchObject({ id });
    expect((await send('/a2a?A2A-Version=0.3', rpc('tasks/get', { id }))).body.result).toMatchObject({ id, kind: 'task' });
    const rest = await send('/a2a/rest/message:send?A2A-Version=1.0', message({ data: MARKET }));
    expect(rest.body.task?.status.state).toBe('TASK_STATE_COMPLETED');
    const read = await fetch(`${served.url}/a2a/rest/tasks/${id}?A2A-Version=1.0&historyLength=0`);
    expect([read.headers.get('content-type'), await read.json()]).toMatchObject([expect.stringContaining('application/a2a+json'), { id }]);
    const missing = await fetch(`${served.url}/a2a/rest/tasks/${crypto.randomUUID()}?A2A-Version=1.0`);
    expect([missing.status, await missing.json()]).toMatchObject([404, { error: { status: 'NOT_FOUND' } }]);
  });

  test('is rejected if it is unknown, and yields to the header', async () => {
    const unknown = await send('/a2a?A2A-Version=9.9', rpc('SendMessage', message({ data: MARKET })));
    expect(unknown.body.error).toMatchObject({ code: -32009 });
    const rest = await send('/a2a/rest/message:send?A2A-Version=9.9', message({ data: MARKET }));
    expect(rest.body.error.details[0].reason).toBe('VERSION_NOT_SUPPORTED');
    const both = await send('/a2a?A2A-Version=0.3', rpc('SendMessage', message({ data: MARKET })), { 'A2A-Version': '1.0' });
    expect(both.body.result?.task.status.state).toBe('TASK_STATE_COMPLETED');
    const broken = await send('/a2a/rest/message:send?A2A-Version=1.0', message({ text: long(70_000) }));
    expect([broken.status, broken.body.error.details[0].metadata.code]).toEqual([413, 'PAYLOAD_TOO_LARGE']);
  });
});

describe('an unpaired surrogate', () => {
  const LONE = '\ud83d lone';
  const CASES: [string, object, string][] = [
    ['a text part', message({ text: LONE }), 'message.parts.0'],
    ['a data part', message({ data: { skill: 'get_market_context', input: { include: [LONE] } } }), 'message.parts.0'],
    ['a name in a data part', message({ data: { skill: 'get_market_context', input: { [LONE]: 1 } } }), 'message.parts.0'],
    ['the metadata of a message', message({ data: MARKET }, { metadata: { note: LONE } }), 'message.metadata'],
    ['a name in the metadata', message({ data: MARKET }, { metadata: { [LONE]: 1 } }), 'message.metadata'],
    ['the metadata of a request', { ...message({ data: MARKET }), metadata: { note: LONE } }, 'metadata'],
    ['the second part', { message: { ...message({}).message, parts: [{ text: 'price' }, { text: LONE }] } }, 'message.parts.1'],
  ];

  test.each(CASES)('is rejected by the name of its place, over both bindings: %s', async (_what, body, field) => {
    const { body: answer } = await rpcOf(served.url)('SendMessage', body);
    expect([answer.error?.code, answer.error?.data[0].metadata]).toMatchObject([-32602, { code: 'INPUT_INVALID', field }]);
    const rest = await post('/a2a/rest/message:send', JSON.stringify(body));
    expect([rest.status, rest.body.error?.details[0].metadata]).toMatchObject([400, { code: 'INPUT_INVALID', field }]);
  });

  test('is rejected in 0.3, and in tasks of the interface', async () => {
    const params = { message: { kind: 'message', messageId: crypto.randomUUID(), role: 'user', parts: [{ kind: 'text', text: LONE }] } };
    const older = await rpcOf(served.url)('message/send', params, { 'A2A-Version': '0.3' });
    expect(older.body.error).toMatchObject({ code: -32602, data: [{ metadata: { field: 'message.parts.0' } }] });
    const bearer = { Authorization: `Bearer ${tokens.basic}` };
    for (const [task, field] of [
      [{ skill: 'get_market_context', input: { include: [LONE] } }, 'input'],
      [{ skill: 'get_market_context', input: {}, metadata: { a: LONE } }, 'metadata'],
      [{ skill: LONE }, 'skill'],
    ] as const) {
      const { status, body } = await post('/api/svc/a2a/tasks/send', JSON.stringify(task), bearer);
      expect([status, body.code, body.field]).toEqual([400, 'INPUT_INVALID', field]);
    }
  });
});

describe('invalid requests', () => {
  const BROKEN: [string, string, number, number][] = [
    ['no JSON', '{"jsonrpc":', -32700, 200],
    ['a batch', '[{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{}}]', -32600, 200],
    ['another version', '{"jsonrpc":"1.0","id":1,"method":"GetTask"}', -32600, 200],
    ['no method', '{"jsonrpc":"2.0","id":1}', -32600, 200],
    ['an id that is none', '{"jsonrpc":"2.0","id":{},"method":"GetTask"}', -32600, 200],
    ['an unknown method', '{"jsonrpc":"2.0","id":1,"method":"toString"}', -32601, 200],
    ['parameters in a list', '{"jsonrpc":"2.0","id":1,"method":"GetTask","params":[]}', -32602, 200],
    ['too much', JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { x: long(70_000) } }), -32600, 413],
  ];

  test.each(BROKEN)('return JSON-RPC errors: %s', async (_what, body, rpc, http) => {
    for (const path of ['/a2a', '/']) {
      const { status, body: answer } = await post(path, body);
      expect([status, answer.jsonrpc, answer.error.code]).toEqual([http, '2.0', rpc]);
      expect(answer.error.data[0].metadata).toMatchObject({ suggestedAction: expect.stringMatching(/\w/), retryable: 'false' });
    }
  });

  test('with unread bodies, unknown methods, paths and versions return the status of the protocol', async () => {
    const other = await post('/a2a', 'x', { 'Content-Type': 'text/plain' });
    expect([other.status, other.body.error.code]).toEqual([415, -32005]);
    const rest = await post('/a2a/rest/message:send', 'x', { 'Content-Type': 'text/plain' });
    expect([rest.status, rest.body.error.details[0].metadata.code]).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE']);
    const unread = await post('/a2a/rest/message:send', '{');
    expect([unread.status, unread.body.error.status]).toEqual([400, 'INVALID_ARGUMENT']);
    const nowhere = await post('/a2a/rest/nowhere', '{}');
    expect([nowhere.status, nowhere.body.error.details[0].reason]).toEqual([404, 'NOT_FOUND']);
    const get = await fetch(`${served.url}/a2a`);
    expect([get.status, get.headers.get('Allow'), ((await get.json()) as { error: { code: number } }).error.code]).toEqual([
      405,
      'POST',
      -32600,
    ]);
    const version = await post('/a2a', '{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"x"}}', { 'A2A-Version': '7.0' });
    expect(version.body.error.code).toBe(-32009);
    const call = '{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"x"}}';
    const longVersion = await post('/a2a', call, { 'A2A-Version': long(500) });
    expect(longVersion.body.error.data[0].metadata.field).toBe('A2A-Version');
    expect(JSON.stringify(longVersion.body)).not.toContain(long(20));
    expect((await fetch(`${served.url}/`)).status).toBe(200);
  });

  test.each(['/a2a', '/', '/a2a/rest/message:send', '/mcp', '/api/svc/a2a/tasks/send'])(
    'return 413 with the limit for a large body on %s',
    async (path) => {
      const headers = { Authorization: `Bearer ${tokens.basic}` };
      const { status, body } = await post(path, JSON.stringify({ x: long(65_536) }), headers);
      expect([status, JSON.stringify(body)]).toEqual([413, expect.stringContaining('Send at most 64 KiB.')]);
    },
  );

  test('for an unknown skill return 404 with the list of skills', async () => {
    for (const path of ['/api/svc/skills/nope', '/api/svc/skills/get_market_context/more']) {
      const { status, body } = await post(path, '{}');
      expect([status, body.code]).toEqual([404, 'NOT_FOUND']);
      expect(body.suggestedAction).toMatch(/^GET \/api\/svc\/skills lists the skills: predict_btc_direction, .*get_market_context\.$/);
    }
    expect((await post('/api/svc/skill', '{}')).body.suggestedAction).toBe('GET / lists all operations.');
  });

  test('are read in both media types over both bindings', async () => {
    const headers = { 'Content-Type': 'application/a2a+json' };
    expect(
      (await post('/a2a', JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendMessage', params: message({ data: MARKET }) }), headers))
        .body.result.task,
    ).toBeDefined();
    expect((await post('/a2a/rest/message:send', JSON.stringify(message({ data: MARKET })), headers)).body.task).toBeDefined();
  });

  describe('with a rejected token', () => {
    const headers = { Authorization: 'Bearer nonsense' };
    const call = (method: string, params: object, more = headers) => rpcOf(served.url)(method, params, more);
    const readTask = (id: string, more: Record<string, string> = {}) =>
      fetch(`${served.url}/a2a/rest/tasks/${id}`, { headers: { 'A2A-Version': '1.0', ...more } });
    const sent = (data: object, more = headers) => call('SendMessage', message({ data }), more);

    test('runs a public skill as anonymous, and reads its task again', async () => {
      for (const answer of [await sent(MARKET), await post('/a2a/rest/message:send', JSON.stringify(message({ data: MARKET })), headers)]) {
        expect([answer.status, answer.headers.get('WWW-Authenticate')]).toEqual([200, expect.stringContaining('invalid_token')]);
        const { id, status } = (answer.body.result ?? answer.body).task;
        expect(status.state).toBe('TASK_STATE_COMPLETED');
        expect((await call('GetTask', { id })).body.result).toMatchObject({ id });
      }
    });

    test('rejects a gated skill with the reason of the token', async () => {
      const answer = await sent({ skill: 'predict_btc_direction', input: {} });
      expect(answer.headers.get('WWW-Authenticate')).toContain('invalid_token');
      expect(answer.body.result.task.status.state).toBe('TASK_STATE_REJECTED');
      expect(JSON.stringify(answer.body)).toContain('The access token cannot be read');
    });

    test('returns UNAUTHENTICATED instead of NOT_FOUND for a task of a wallet', async () => {
      const { id } = (await sent(MARKET, { Authorization: `Bearer ${tokens.basic}` })).body.result.task;
      const [rpc, rest] = [await call('GetTask', { id }), await readTask(id, headers)];
      expect(JSON.stringify(rpc.body.error)).toContain('UNAUTHENTICATED');
      expect([rest.status, rest.headers.get('WWW-Authenticate')]).toEqual([401, expect.stringContaining('invalid_token')]);
      expect((await readTask(id)).status).toBe(404);
    });
  });

  test.each([
    ['GetTask', { id: 'a', historyLength: -1 }],
    ['ListTasks', { pageSize: 0 }],
    ['ListTasks', { pageSize: 101 }],
    ['ListTasks', { pageToken: 'nonsense' }],
    ['ListTasks', { status: 'TASK_STATE_NONSENSE' }],
    ['ListTasks', { statusTimestampAfter: 'yesterday' }],
    ['ListTasks', { contextId: long(200) }],
    ['GetTask', {}],
    ['CancelTask', { id: ' ' }],
  ])('return -32602 for invalid parameters: %s %o', async (method, params) => {
    const { body } = await rpcOf(served.url)(method, params);
    expect(body.error).toMatchObject({ code: -32602, message: expect.stringMatching(/\w/) });
  });
});

describe('task ownership', () => {
  const FROM = (address: string) => ({ 'X-Forwarded-For': address });

  test('separates anonymous clients by address, whatever the tenant', async () => {
    const rpc = rpcOf(served.url);
    const { body } = await rpc('SendMessage', message({ data: MARKET }), FROM('203.0.113.1'));
    const { id } = body.result.task;
    const answers = await Promise.all([
      rpc('GetTask', { id }, FROM('203.0.113.1')),
      rpc('GetTask', { id, tenant: 'other' }, FROM('203.0.113.1')),
      rpc('GetTask', { id }, FROM('203.0.113.2')),
      rpc('GetTask', { id, tenant: 'address:203.0.113.1' }, FROM('203.0.113.2')),
      rpc('GetTask', { id }, { Authorization: `Bearer ${tokens.basic}` }),
      rpc('CancelTask', { id }, FROM('203.0.113.2')),
      rpc('SubscribeToTask', { id }, FROM('203.0.113.2')),
    ]);
    expect(answers.map(({ body: { error } }) => error?.code ?? 'told')).toEqual(['told', 'told', ...Array(5).fill(-32001)]);
    expect(answers[2].body).toEqual((await rpc('GetTask', { id: crypto.randomUUID() }, FROM('203.0.113.2'))).body);
  });
});

describe('the task operations of the interface', () => {
  const bearer = () => ({ Authorization: `Bearer ${tokens.basic}` });
  const get = async (id: string, headers: Record<string, string> = bearer()) => fetch(`${served.url}/api/svc/a2a/tasks/${id}`, { headers });

  test('share their tasks with A2A', async () => {
    const sent = await post('/api/svc/a2a/tasks/send', JSON.stringify({ ...MARKET, metadata: { from: 'a test' } }), bearer());
    expect(sent).toMatchObject({
      status: 200,
      body: { jsonrpc: '2.0', result: { status: 'completed', skill: 'get_market_context', result: { include: ['price'] } } },
    });
    const { id, result } = sent.body;
    expect(result.id).toBe(id);
    const { body } = await rpcOf(served.url)('GetTask', { id }, bearer());
    expect(body.result).toMatchObject({
      artifacts: [{ parts: [{ data: result.result }, {}] }],
      history: [{ metadata: { from: 'a test' } }],
    });
    expect(await (await get(id)).json()).toEqual(sent.body);

    const over = await rpcOf(served.url)('SendMessage', message({ data: MARKET }), bearer());
    expect(await (await get(over.body.result.task.id)).json()).toMatchObject({
      result: { status: 'completed', skill: 'get_market_context' },
    });
    const waiting = await rpcOf(served.url)('SendMessage', message({ text: 'good morning' }), bearer());
    expect(await (await get(waiting.body.result.task.id)).json()).toMatchObject({ result: { status: 'working', skill: '', result: null } });
    await rpcOf(served.url)('CancelTask', { id: waiting.body.result.task.id }, bearer());
    expect(await (await get(waiting.body.result.task.id)).json()).toMatchObject({
      result: { status: 'failed', result: { code: 'CONFLICT', status: 409 } },
    });
  });

  test.each(['call-7', 7, ''])('echo the id of a call in answers and problems: %j', async (id) => {
    const send = (body: object) => post('/api/svc/a2a/tasks/send', JSON.stringify({ jsonrpc: '2.0', id, ...body }), bearer());
    const { status, body } = await send(MARKET);
    expect([status, body.jsonrpc, body.id, body.result.status]).toEqual([200, '2.0', id, 'completed']);
    expect((await get(body.result.id)).status).toBe(200);
    expect((await send({ skill: 'nope' })).body).toMatchObject({ status: 400, field: 'skill', jsonrpc: '2.0', id });
  });

  test.each([
    [{ id: { a: 1 } }, 'id'],
    [{ id: long(257) }, 'id'],
    [{ jsonrpc: '1.0' }, 'jsonrpc'],
  ])('reject an invalid JSON-RPC envelope: %o', async (envelope, field) => {
    const { status, body } = await post('/api/svc/a2a/tasks/send', JSON.stringify({ ...MARKET, ...envelope }), bearer());
    expect([status, body.code, body.field, body.id]).toEqual([400, 'INPUT_INVALID', field, undefined]);
  });

  test('return the problem of a failed task', async () => {
    const body = { skill: 'verify_prediction', input: { uid: `0x${'1'.repeat(64)}` } };
    const { status, body: answer } = await post('/api/svc/a2a/tasks/send', JSON.stringify(body), bearer());
    expect(status).toBe(200);
    expect(answer.result).toMatchObject({
      status: 'failed',
      skill: 'verify_prediction',
      result: { code: 'NOT_FOUND', status: 404, success: false, instance: `/api/svc/a2a/tasks/${answer.id}` },
    });
  });

  test.each([
    [{ skill: 'nope' }, 'skill'],
    [{}, 'skill'],
    [{ skill: 'get_market_context', input: { x: 1 } }, 'x'],
    [{ skill: 'get_market_context', metadata: { a: long(5_000) } }, 'metadata'],
    [{ skill: 'get_market_context', metadata: nested(1_000) }, 'metadata'],
    [{ skill: 'get_market_context', input: [] }, 'input'],
    [{ skill: 'get_market_context', input: { x: long(5_000) } }, 'input'],
  ])('reject an invalid task: %o', async (body, field) => {
    expect(await post('/api/svc/a2a/tasks/send', JSON.stringify(body), bearer())).toMatchObject({
      status: 400,
      body: { code: 'INPUT_INVALID', field },
    });
  });

  test('require a token, and return 404 for tasks of other owners', async () => {
    expect((await post('/api/svc/a2a/tasks/send', JSON.stringify(MARKET))).status).toBe(401);
    const { body } = await post('/api/svc/a2a/tasks/send', JSON.stringify(MARKET), bearer());
    expect((await get(body.id, {})).status).toBe(401);
    const other = await get(body.id, { Authorization: `Bearer ${tokens.premium}` });
    expect([other.status, ((await other.json()) as { code: string }).code]).toEqual([404, 'NOT_FOUND']);
    expect((await get(crypto.randomUUID())).status).toBe(404);
    expect((await get('7')).status).toBe(400);
  });
});

describe('malformed requests', () => {
  const HOSTILE: unknown[] = [null, 7, 'x', [null], {}, { file: null }];
  const places = ['message', 'parts', 'part', 'messageId', 'role', 'configuration', 'metadata', 'contextId', 'id'] as const;

  function bodyWith(place: (typeof places)[number], value: unknown): object {
    const good = { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ data: MARKET }] };
    if (place === 'message') return { message: value };
    if (place === 'part') return { message: { ...good, parts: [value] } };
    if (place === 'configuration' || place === 'id') return { message: good, [place]: value };
    return { message: { ...good, [place]: value } };
  }

  test.each(places)('never return an internal error for any value of %s, in either version', async (place) => {
    for (const value of HOSTILE) {
      const body = bodyWith(place, value);
      for (const version of ['1.0', '0.3']) {
        const headers = { 'A2A-Version': version };
        const methods =
          version === '1.0' ? ['SendMessage', 'SendStreamingMessage', 'GetTask'] : ['message/send', 'tasks/get', 'tasks/cancel'];
        for (const method of methods) {
          const { status, text } = await raw('/a2a', JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: body }), headers);
          expect.soft([status, text.includes('-32603'), /Cannot read|is not a function/.test(text)], text).toEqual([200, false, false]);
        }
        for (const path of version === '1.0' ? ['message:send', 'message:stream'] : ['v1/message:send', 'v1/message:stream']) {
          const { status, text } = await raw(`/a2a/rest/${path}`, JSON.stringify(body), headers);
          expect.soft([status < 500, /Cannot read|is not a function/.test(text)], `${status} ${text}`).toEqual([true, false]);
        }
      }
    }
  });

  async function raw(path: string, body: string, headers: Record<string, string>) {
    const answer = await fetch(`${served.url}${path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...headers },
      body,
    });
    return { status: answer.status, text: await answer.text() };
  }

  test.each([
    'tasks?pageSize=x',
    'tasks?pageSize=0',
    'tasks?historyLength=-1',
    'tasks?status=NONSENSE',
    'tasks?pageToken=x',
    'tasks/x?historyLength=x',
  ])('return 400 for GET %s', async (path) => {
    const answer = await fetch(`${served.url}/a2a/rest/${path}`, { headers: { 'A2A-Version': '1.0' } });
    expect([answer.status, await answer.json()]).toMatchObject([400, { error: { code: 400, status: 'INVALID_ARGUMENT' } }]);
  });
});
