import { JsonRpcTransport, RestTransport } from 'a2a-sdk-0.3/client';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { MARKET, message, rpcOf } from '../../support/a2a-bench.ts';
import { a2aSuite } from '../../support/a2a-suite.ts';

const { bench } = a2aSuite();

beforeAll(() => {
  // The 0.3 client logs each event that it cannot read, and the library each stream that fails.
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

/** POST to `/a2a` by hand. */
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
      expect(JSON.parse(data)).toMatchObject({
        jsonrpc: '2.0',
        id,
        error: { code, data: [{ metadata: { suggestedAction: expect.stringMatching(/\w/) } }] },
      });
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
      await expect(all(client.sendMessageStream(UNKNOWN_SKILL()))).rejects.toThrow(/There is no skill of that name.*-32602/);
      await expect(all(client.resubscribeTask({ id: crypto.randomUUID() }))).rejects.toThrow('There is no such task of yours');
    }
  });
});

describe('a method or path that 0.3 does not have', () => {
  test('is answered with the methods of 0.3', async () => {
    const { rpc } = await bench();
    const { body } = await rpc('tasks/list', {}, { 'A2A-Version': '0.3' });
    expect(body.error).toMatchObject({ code: -32601, data: [{ metadata: { field: 'method' } }] });
    const { suggestedAction } = body.error.data[0].metadata;
    expect(suggestedAction).toMatch(
      /^Call one of message\/send, .*tasks\/pushNotificationConfig\/delete; those of 1\.0 need A2A-Version: 1\.0\.$/,
    );
    expect(suggestedAction).not.toContain('GetTask');
    expect((await rpc('tasks/list', {})).body.error.data[0].metadata.suggestedAction).toMatch(/^Call one of SendMessage, /);
  });

  test('is answered over HTTP+JSON with an error object of 0.3 and its paths', async () => {
    const { url } = await bench();
    const answer = await fetch(`${url}/a2a/rest/v1/tasks/a/messages`);
    expect([answer.status, await answer.json()]).toMatchObject([
      404,
      { code: -32601, data: [{ metadata: { suggestedAction: expect.stringContaining('POST /a2a/rest/v1/message:send') } }] },
    ]);
  });

  test('is named in advice by its name in 0.3', async () => {
    const { url, rpc } = await bench();
    const older = rpcOf(url);
    const { body } = await rpc('SendMessage', message({ text: 'hm' }));
    const params = { id: body.result.task.id, pushNotificationConfigId: 'none' };
    const { error } = (await older('tasks/pushNotificationConfig/get', params, { 'A2A-Version': '0.3' })).body;
    expect(error.data[0].metadata.suggestedAction).toBe('tasks/pushNotificationConfig/list lists those that it has.');
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
  ])('is refused with the name of the field that is wrong: %j', async (body, field) => {
    const { url, rpc } = await bench();
    const { id } = (await rpc('SendMessage', message(MARKET))).body.result.task;
    const path = `${url}/a2a/rest/v1/tasks/${id}/pushNotificationConfigs`;
    const answer = await fetch(path, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) });
    expect(answer.status).toBe(400);
    const error = (await answer.json()) as { code: number; message: string };
    expect([error.code, error.message]).toEqual([-32602, expect.stringContaining(field)]);
  });
});
