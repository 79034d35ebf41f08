import { Message } from '@a2a-js/sdk';
import type { A2ARequestHandler } from '@a2a-js/sdk/server';
import { JsonRpcTransport, RestTransport } from 'a2a-sdk-0.3/client';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { createA2aAdapters, toProtocolError } from '../../../../src/a2a/bindings.ts';
import { buildTask } from '../../../../src/a2a/tasks.ts';
import { PUBLIC_CALLER } from '../../../../src/auth/caller.ts';
import { OracleError } from '../../../../src/errors.ts';
import { createApp } from '../../../../src/http/server.ts';
import { createLog } from '../../../../src/platform/log.ts';
import { MARKET, message, rpcOf } from '../../../support/a2a/a2a-bench.ts';
import { a2aSuite } from '../../../support/a2a/a2a-suite.ts';
import { contextOf } from '../../../support/events/push-config.ts';
import { serveApp } from '../../../support/http/serve.ts';

const { bench } = a2aSuite();

beforeAll(() => {
  // The 0.3 client logs each event that it cannot read, and the SDK each failed stream.
  vi.spyOn(console, 'error').mockReturnValue();
});
afterAll(() => {
  vi.restoreAllMocks();
});

const messageOf = (data: Record<string, unknown>) => ({
  message: { kind: 'message' as const, messageId: crypto.randomUUID(), role: 'user' as const, parts: [{ kind: 'data' as const, data }] },
});
const UNKNOWN_SKILL = () => messageOf({ skill: 'nope' });

async function all<T>(events: AsyncIterable<T>): Promise<T[]> {
  const seen: T[] = [];
  for await (const event of events) seen.push(event);
  return seen;
}

interface Sent {
  body: string;
  headers?: Record<string, string>;
}

async function postRpc(url: string, { body, headers = {} }: Sent) {
  const response = await fetch(`${url}/a2a`, { method: 'POST', headers: { 'Content-Type': 'application/json', ...headers }, body });
  return { status: response.status, type: response.headers.get('Content-Type'), text: await response.text() };
}

const call = (method: string, params?: unknown) => JSON.stringify({ jsonrpc: '2.0', id: 'a', method, params });

describe('a stream that fails before its first event', () => {
  const CALLS: [string, Sent, number][] = [
    ['an unknown skill', { body: call('message/stream', UNKNOWN_SKILL()) }, -32602],
    ['a task that does not exist', { body: call('tasks/resubscribe', { id: crypto.randomUUID() }) }, -32001],
    ['no parameters', { body: call('message/stream') }, -32602],
    ['parameters in a list', { body: call('tasks/resubscribe', []) }, -32602],
    ['no message', { body: call('message/stream', {}) }, -32602],
    ['a body that is no JSON', { body: '{"jsonrpc"', headers: { Accept: 'text/event-stream' } }, -32700],
  ];

  test.each(CALLS)('returns one event with the JSON-RPC error: %s', async (_what, sent, code) => {
    const { url } = await bench();
    for (const version of ['', '0.3']) {
      const { status, type, text } = await postRpc(url, { ...sent, headers: { ...sent.headers, 'A2A-Version': version } });
      expect([status, type]).toEqual([200, 'text/event-stream; charset=utf-8']);
      const [, data] = /^data: (.*)\n\n$/.exec(text)!;
      const id = sent.body.startsWith('{"jsonrpc":') ? 'a' : null;
      expect(JSON.parse(data)).toMatchObject({ jsonrpc: '2.0', id, error: { code, message: expect.stringMatching(/\w/) } });
    }
  });

  test('returns JSON in 1.0, and to methods of 0.3 that do not stream', async () => {
    const { url } = await bench();
    const current = await postRpc(url, { body: call('SendStreamingMessage', {}), headers: { 'A2A-Version': '1.0' } });
    const plain = await postRpc(url, { body: call('tasks/get', { id: 'a' }), headers: { Accept: 'application/json, text/event-stream' } });
    for (const { type, text } of [current, plain]) {
      expect(type).toContain('application/json');
      expect(JSON.parse(text).error.code).toBeLessThan(0);
    }
  });

  test('reaches the caller of the 0.3 client with its code, over either binding', async () => {
    const { url } = await bench();
    const [rpc, rest] = [new JsonRpcTransport({ endpoint: `${url}/a2a` }), new RestTransport({ endpoint: `${url}/a2a/rest` })];
    for (const client of [rpc, rest]) {
      await expect(all(client.sendMessageStream(UNKNOWN_SKILL()))).rejects.toThrow(/Unknown skill.*-32602/);
      await expect(all(client.resubscribeTask({ id: crypto.randomUUID() }))).rejects.toThrow('Task not found');
    }
  });
});

describe('a stream that fails later', () => {
  /** A service whose streams fail after their first event. */
  async function brokenStreams() {
    const context = contextOf(null, '0.3');
    const handler = {
      getAgentCard: async () => ({ capabilities: { streaming: true } }),
      async *sendMessageStream() {
        yield {
          payload: { $case: 'task', value: buildTask({ taskId: 't', contextId: 'c', message: Message.fromJSON({}), at: new Date(0) }) },
        };
        throw toProtocolError(new OracleError('DATABASE_UNAVAILABLE', 'The database does not answer'), context);
      },
    } as unknown as A2ARequestHandler;
    const log = createLog({ level: 'silent', secrets: [], write: () => undefined });
    return serveApp(createApp([], { log, identify: async () => PUBLIC_CALLER }, createA2aAdapters(handler)));
  }

  test('ends with an event that has the error in its data, and no name in 0.3', async () => {
    const { url, close } = await brokenStreams();
    const blocks = async (method: string, version: string) => {
      const { text } = await postRpc(url, { body: call(method, messageOf({})), headers: { 'A2A-Version': version } });
      return text.split('\n\n').slice(0, -1);
    };
    const [task, last, ...more] = await blocks('message/stream', '0.3');
    expect([JSON.parse(task.slice('data: '.length)).result.kind, more]).toEqual(['task', []]);
    expect(JSON.parse(last.slice('data: '.length))).toMatchObject({ jsonrpc: '2.0', id: 'a', error: { code: -32603 } });
    const current = await blocks('SendStreamingMessage', '1.0');
    expect(current.at(-1)).toMatch(/^event: error\ndata: /);
    await close();
  });
});

describe('a method or path that 0.3 does not have', () => {
  test('is answered with the methods of 0.3', async () => {
    const { rpc } = await bench();
    const { body } = await rpc('tasks/list', {}, { 'A2A-Version': '0.3' });
    expect(body.error).toMatchObject({ code: -32601, data: [{ metadata: { field: 'method' } }] });
    expect(body.error.data[0].metadata.suggestedAction).toBe('Call a method of A2A 0.3, e.g. message/send.');
    expect((await rpc('tasks/list', {})).body.error.data[0].metadata.suggestedAction).toBe('Call a method of A2A 1.0, e.g. SendMessage.');
  });

  test('is answered over HTTP+JSON with an error object of 0.3 and its paths', async () => {
    const { url } = await bench();
    const answer = await fetch(`${url}/a2a/rest/v1/tasks/a/messages`);
    expect([answer.status, await answer.json()]).toMatchObject([
      404,
      { code: -32601, data: [{ metadata: { suggestedAction: expect.stringContaining('POST /a2a/rest/v1/message:send') } }] },
    ]);
  });

  test('gets errors that have a status of HTTP in the same form', async () => {
    const { url } = await bench();
    const body = JSON.stringify({ message: { text: 'x'.repeat(70_000) } });
    const answer = await fetch(`${url}/a2a/rest/v1/message:send`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body,
    });
    expect([answer.status, await answer.json()]).toMatchObject([
      413,
      { code: -32600, data: [{ metadata: { code: 'PAYLOAD_TOO_LARGE' } }] },
    ]);
  });

  test('is named in advice by its name in 0.3', async () => {
    const { url, rpc } = await bench();
    const older = rpcOf(url);
    const { body } = await rpc('SendMessage', message({ text: 'hm' }));
    const params = { id: body.result.task.id, pushNotificationConfigId: 'none' };
    const { error } = (await older('tasks/pushNotificationConfig/get', params, { 'A2A-Version': '0.3' })).body;
    expect(error.data[0].metadata.suggestedAction).toBe('tasks/pushNotificationConfig/list lists the callbacks of the task.');
  });
});

describe('a configuration of 0.3', () => {
  const MARKET_03 = () => messageOf({ skill: 'get_market_context', input: { include: ['price'] } });
  const rpcSend = async (url: string, configuration: unknown) =>
    JSON.parse((await postRpc(url, { body: call('message/send', { ...MARKET_03(), configuration }) })).text).result.status.state;
  const restSend = async (url: string, configuration: unknown) => {
    const content = [{ data: { data: { skill: 'get_market_context', input: { include: ['price'] } } } }];
    const body = { message: { messageId: crypto.randomUUID(), role: 'ROLE_USER', content }, configuration };
    const headers = { 'Content-Type': 'application/json' };
    const answer = await fetch(`${url}/a2a/rest/v1/message:send`, { method: 'POST', headers, body: JSON.stringify(body) });
    return ((await answer.json()) as { task: { status: { state: string } } }).task.status.state;
  };

  test.each<[string, unknown]>([
    ['none', undefined],
    ['an empty one', {}],
    ['one with output modes', { acceptedOutputModes: ['application/json'] }],
    ['blocking: null', { blocking: null }],
    ['blocking', { blocking: true }],
  ])('waits for the answer over both bindings: %s', async (_what, configuration) => {
    const { url } = await bench();
    expect([await rpcSend(url, configuration), await restSend(url, configuration)]).toEqual(['completed', 'TASK_STATE_COMPLETED']);
  });

  test('waits with the 0.3 client that names output modes alone', async () => {
    const { url } = await bench();
    for (const client of [new JsonRpcTransport({ endpoint: `${url}/a2a` }), new RestTransport({ endpoint: `${url}/a2a/rest` })]) {
      const task = await client.sendMessage({ ...MARKET_03(), configuration: { acceptedOutputModes: ['text'] } });
      expect(task).toMatchObject({ kind: 'task', status: { state: 'completed' } });
    }
  });

  test('returns at once with blocking: false', async () => {
    const { url, hold } = await bench();
    const { release } = hold();
    expect(await rpcSend(url, { blocking: false })).not.toBe('completed');
    expect(await restSend(url, { blocking: false })).not.toBe('TASK_STATE_COMPLETED');
    release();
  });
});

describe('a callback registered over HTTP+JSON of 0.3', () => {
  const callback = { id: 'mine', url: 'https://hooks.example.com/a' };
  const BODIES: [string, object][] = [
    ['without a name', { pushNotificationConfig: callback }],
    ['with the name of another task', { name: 'tasks/other/pushNotificationConfigs/x', pushNotificationConfig: callback }],
    ['as a request of gRPC', { parent: 'tasks/x', configId: 'mine', config: { pushNotificationConfig: { url: callback.url } } }],
  ];

  test.each(BODIES)('is one of the task of the path: %s', async (_what, body) => {
    const { url, rpc } = await bench();
    const { id } = (await rpc('SendMessage', message(MARKET))).body.result.task;
    const path = `${url}/a2a/rest/v1/tasks/${id}/pushNotificationConfigs`;
    const answer = await fetch(path, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) });
    const name = `tasks/${id}/pushNotificationConfigs/mine`;
    expect([answer.status, await answer.json()]).toMatchObject([201, { name, pushNotificationConfig: callback }]);
    const client = new RestTransport({ endpoint: `${url}/a2a/rest` });
    expect(await client.listTaskPushNotificationConfig({ id })).toMatchObject([{ taskId: id, pushNotificationConfig: callback }]);
  });

  test.each([
    [{ url: callback.url }, 'pushNotificationConfig'],
    [{ pushNotificationConfig: { url: 7 } }, 'url'],
    [{ config: { pushNotificationConfig: { url: 7 } } }, 'url'],
  ])('is rejected with the name of the field that is wrong: %j', async (body, field) => {
    const { url, rpc } = await bench();
    const { id } = (await rpc('SendMessage', message(MARKET))).body.result.task;
    const path = `${url}/a2a/rest/v1/tasks/${id}/pushNotificationConfigs`;
    const answer = await fetch(path, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) });
    expect(answer.status).toBe(400);
    const error = (await answer.json()) as { code: number; message: string };
    expect([error.code, error.message]).toEqual([-32602, expect.stringContaining(field)]);
  });
});
