import { randomUUID } from 'node:crypto';
import { type TaskPushNotificationConfig, TaskState } from '@a2a-js/sdk';
import { JsonRpcTransport as OlderTransport } from 'a2a-sdk-0.3/client';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { ENDPOINTS } from '../../../../../agent-card/endpoints.ts';
import { asTask, getRejectionMetadata, a2aClientAt as open, withPush } from '../../../../support/a2a/a2a-client.ts';
import { dataPart, messageOf, textPart } from '../../../../support/agent-clients/a2a.ts';
import { fetchAs } from '../../../../support/agent-clients/client.ts';
import { loginToken } from '../../../../support/auth/login.ts';
import { type Served, serve } from '../../../../support/http/serve.ts';
import { type TestService, testService } from '../../../../support/service/service.ts';
import { type Received, startReceiver } from '../../../../support/webhooks/receiver.ts';

const BINDINGS = ['JSONRPC', 'HTTP+JSON'] as const;
const MARKET = dataPart({ skill: 'get_market_context', input: {} });

let service: TestService;
let served: Served;
let basic: string;
let premium: string;

beforeAll(async () => {
  service = await testService(1, { PUSH_LOCAL_TARGETS: 'allow' });
  served = await serve(service);
  [basic, premium] = [await loginToken(service, 'basic'), await loginToken(service, 'premium')];
});
afterAll(async () => {
  await served?.close();
  await service?.stop();
});

async function receiver() {
  const started = await startReceiver(200);
  onTestFinished(started.close);
  return started;
}

/** Content of each notification, in order. */
function summarize(received: readonly Received[]): string[] {
  return received
    .map(({ body }) => JSON.parse(body))
    .map(({ task, statusUpdate, artifactUpdate }) => (artifactUpdate === undefined ? (task ?? statusUpdate).status.state : 'artifact'));
}

/** A task in INPUT_REQUIRED. */
async function waitingTask(binding: (typeof BINDINGS)[number], token: string | undefined = basic) {
  const client = await open(served.url, binding, token);
  const task = asTask(await client.sendMessage(messageOf([textPart('xyzzy')])));
  expect(task.status?.state).toBe(TaskState.TASK_STATE_INPUT_REQUIRED);
  return { client, task };
}

/** Secrets of the registration are never returned. */
const withoutSecrets = ({ authentication, ...config }: TaskPushNotificationConfig) => ({
  ...config,
  token: '',
  authentication: authentication && { ...authentication, credentials: '' },
});

const named = (taskId: string, id: string) => ({ tenant: '', taskId, id });
const page = (taskId: string) => ({ tenant: '', taskId, pageSize: 0, pageToken: '' });

describe.each(BINDINGS)('over %s', (binding) => {
  it.each(['send', 'stream'])('a callback of a message receives all events of its task in order (%s)', async (way) => {
    const [client, { url, until }] = [await open(served.url, binding, basic), await receiver()];
    const request = withPush(messageOf([MARKET]), {
      url: `${url}/hook`,
      token: 'mine',
      authentication: { scheme: 'Bearer', credentials: 'cred' },
    });
    if (way === 'send') await client.sendMessage(request);
    else for await (const _event of client.sendMessageStream(request));
    const received = await until(4);
    expect(summarize(received)).toEqual(['TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING', 'artifact', 'TASK_STATE_COMPLETED']);
    expect(received[0]!.headers).toMatchObject({ authorization: 'Bearer cred', 'x-a2a-notification-token': 'mine' });
    expect(received[0]!.headers['content-type']).toBe('application/a2a+json');
  });

  it('callbacks are registered, read, listed and deleted, and receive later events', async () => {
    const [{ client, task }, { url, received, until }] = [await waitingTask(binding), await receiver()];
    const authentication = { scheme: 'Bearer', credentials: 'cred' };
    const config = { tenant: '', taskId: task.id, id: '', url, token: 'mine', authentication };
    const created = await client.createTaskPushNotificationConfig(config);
    expect(created).toEqual({ ...config, id: expect.stringMatching(/./) });
    expect(await client.getTaskPushNotificationConfig(named(task.id, created.id))).toEqual(withoutSecrets(created));
    const second = await client.createTaskPushNotificationConfig({ ...config, id: 'second' });
    expect((await client.listTaskPushNotificationConfig(page(task.id))).configs).toEqual([created, second].map(withoutSecrets));
    await client.deleteTaskPushNotificationConfig(named(task.id, 'second'));
    await client.deleteTaskPushNotificationConfig(named(task.id, 'second'));
    await expect(client.getTaskPushNotificationConfig(named(task.id, 'second'))).rejects.toMatchObject({ reason: 'TASK_NOT_FOUND' });
    await client.sendMessage(messageOf([MARKET], { taskId: task.id, contextId: task.contextId }));
    expect(summarize(await until(4)).slice(1)).toEqual(['TASK_STATE_WORKING', 'artifact', 'TASK_STATE_COMPLETED']);
    expect(received).toHaveLength(4);
  });

  it('a missing callback and a missing task return different errors', async () => {
    const { client, task } = await waitingTask(binding);
    const advice = { code: 'NOT_FOUND', field: 'id', suggestedAction: 'ListTaskPushNotificationConfigs lists the callbacks of the task.' };
    const missing = () => client.getTaskPushNotificationConfig(named(task.id, 'nobody'));
    expect(await getRejectionMetadata(missing())).toMatchObject(advice);
    await expect(missing()).rejects.toThrow('Callback not found');
    const other = await open(served.url, binding, premium);
    await expect(other.getTaskPushNotificationConfig(named(task.id, 'nobody'))).rejects.toThrow('Task not found');
  });

  it('a callback of an ended task is stored and not called', async () => {
    const [client, { url, received }] = [await open(served.url, binding, basic), await receiver()];
    const task = asTask(await client.sendMessage(messageOf([MARKET])));
    expect(task.status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
    const config = { tenant: '', taskId: task.id, id: 'late', url, token: '', authentication: undefined };
    await client.createTaskPushNotificationConfig(config);
    await expect(client.sendMessage(messageOf([MARKET], { taskId: task.id }))).rejects.toThrow('The task has ended');
    expect((await client.listTaskPushNotificationConfig(page(task.id))).configs).toEqual([config]);
    expect(received).toEqual([]);
  });

  it('other owners cannot read, list, add or delete them', async () => {
    const { client, task } = await waitingTask(binding);
    const config = { tenant: '', taskId: task.id, id: 'one', url: 'https://hooks.example.com/', token: 'mine', authentication: undefined };
    await client.createTaskPushNotificationConfig(config);
    for (const token of [premium, undefined]) {
      const other = await open(served.url, binding, token);
      const refused = { reason: 'TASK_NOT_FOUND' };
      await expect(other.getTaskPushNotificationConfig(named(task.id, 'one'))).rejects.toMatchObject(refused);
      await expect(other.listTaskPushNotificationConfig(page(task.id))).rejects.toMatchObject(refused);
      await expect(other.createTaskPushNotificationConfig({ ...config, id: 'two' })).rejects.toMatchObject(refused);
      await expect(other.deleteTaskPushNotificationConfig(named(task.id, 'one'))).rejects.toMatchObject(refused);
    }
    expect((await client.listTaskPushNotificationConfig(page(task.id))).configs).toEqual([withoutSecrets(config)]);
  });

  it.each([
    ['url', { url: 'https://10.0.0.1/hook' }],
    ['url', { url: 'https://169.254.169.254/latest' }],
    ['url', { url: 'http://hooks.example.com/' }],
    ['token', { url: 'https://hooks.example.com/', token: 'a\r\nb: c' }],
  ])('a callback with a forbidden %s (%j) is rejected before a task is opened', async (field, wrong) => {
    const client = await open(served.url, binding, premium);
    const tasks = () => service.database.db.collection('a2a_tasks').countDocuments({});
    const before = await tasks();
    const refusal = { code: 'INPUT_INVALID', field, retryable: 'false', suggestedAction: expect.stringMatching(/./) };
    expect(await getRejectionMetadata(client.sendMessage(withPush(messageOf([MARKET]), wrong)))).toEqual(refusal);
    expect(await tasks()).toBe(before);
    const { task } = await waitingTask(binding, premium);
    const config = { tenant: '', taskId: task.id, id: '', token: '', authentication: undefined, ...wrong };
    expect(await getRejectionMetadata(client.createTaskPushNotificationConfig(config))).toEqual(refusal);
    expect((await client.listTaskPushNotificationConfig(page(task.id))).configs).toEqual([]);
  });

  it('a task has at most five, and a sixth with a message leaves the task unchanged', async () => {
    const { client, task } = await waitingTask(binding);
    const config = { tenant: '', taskId: task.id, url: 'https://hooks.example.com/', token: '', authentication: undefined };
    for (let n = 1; n <= 5; n++) await client.createTaskPushNotificationConfig({ ...config, id: `id-${n}` });
    expect(await getRejectionMetadata(client.createTaskPushNotificationConfig({ ...config, id: 'id-6' }))).toMatchObject({
      code: 'CONFLICT',
    });
    const next = messageOf([MARKET], { taskId: task.id, contextId: task.contextId });
    expect(await getRejectionMetadata(client.sendMessage(withPush(next, { ...config, id: 'id-6' })))).toMatchObject({ code: 'CONFLICT' });
    const found = await client.getTask({ tenant: '', id: task.id, historyLength: undefined });
    expect(found.status?.state).toBe(TaskState.TASK_STATE_INPUT_REQUIRED);
  });

  it('a messageId with the prefix of the test kit is an ordinary one', async () => {
    const client = await open(served.url, binding, basic);
    const messageId = `tck-artifact-text-${randomUUID()}`;
    const task = asTask(await client.sendMessage(messageOf([MARKET], { messageId })));
    expect(task.artifacts.map(({ name }) => name)).toEqual(['get_market_context']);
  });
});

describe('over protocol 0.3', () => {
  it('a callback receives whole tasks in the 0.3 format, and is found by its task', async () => {
    const [{ url, until }, fetchImpl] = [await receiver(), fetchAs(basic)];
    const client = new OlderTransport({ endpoint: `${served.url}${ENDPOINTS.a2a}`, fetchImpl });
    const parts = [{ kind: 'data' as const, data: { skill: 'get_market_context', input: {} } }];
    const message = { kind: 'message' as const, messageId: randomUUID(), role: 'user' as const, parts };
    const task = await client.sendMessage({ message, configuration: { blocking: true, pushNotificationConfig: { url, token: 'mine' } } });
    expect(task).toMatchObject({ kind: 'task', status: { state: 'completed' } });
    const received = await until(4);
    const bodies = received.map(({ body }) => JSON.parse(body));
    expect(bodies.map(({ kind, status }) => `${kind} ${status.state}`)).toEqual([
      'task submitted',
      'task working',
      'task working',
      'task completed',
    ]);
    expect(bodies.at(-1).artifacts).toHaveLength(1);
    expect(received[0]!.headers).toMatchObject({ 'content-type': 'application/json', 'x-a2a-notification-token': 'mine' });
    const { id } = task as { id: string };
    const config = { taskId: id, pushNotificationConfig: { id, url } };
    expect(await client.getTaskPushNotificationConfig({ id })).toEqual(config);
    expect(await client.listTaskPushNotificationConfig({ id })).toEqual([config]);
    await client.deleteTaskPushNotificationConfig({ id, pushNotificationConfigId: id });
    expect(await client.listTaskPushNotificationConfig({ id })).toEqual([]);
  });

  it('a forbidden target returns our code', async () => {
    const parts = [{ kind: 'data', data: { skill: 'get_market_context', input: {} } }];
    const message = { kind: 'message', messageId: randomUUID(), role: 'user', parts };
    const params = { message, configuration: { pushNotificationConfig: { url: 'https://10.1.2.3/' } } };
    const response = await fetchAs(basic)(`${served.url}${ENDPOINTS.a2a}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'message/send', params }),
    });
    const { error } = (await response.json()) as { error: { code: number; data: unknown } };
    expect(error.code).toBe(-32602);
    expect(JSON.stringify(error.data)).toContain('INPUT_INVALID');
  });
});
