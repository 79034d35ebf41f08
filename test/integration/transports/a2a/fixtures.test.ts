import { randomUUID } from 'node:crypto';
import { type Part, type StreamResponse, type Task, TaskState } from '@a2a-js/sdk';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { asTask, getRejectionMetadata, a2aClientAt as open, withPush } from '../../../support/a2a/a2a-client.ts';
import { findContent, messageOf, textPart } from '../../../support/agent-clients/a2a.ts';
import { type Served, serve } from '../../../support/http/serve.ts';
import { type TestService, testService } from '../../../support/service/service.ts';
import { startReceiver } from '../../../support/webhooks/receiver.ts';

let service: TestService;
let served: Served;

beforeAll(async () => {
  service = await testService(1, { PROTOCOL_FIXTURES: 'test/support/protocols/fixtures.ts', PUSH_LOCAL_TARGETS: 'allow' });
  served = await serve(service);
});
afterAll(async () => {
  await served?.close();
  await service?.stop();
});

/** The kit uses one id per session. */
const asked = (prefix: string, more = {}) => messageOf([textPart('TCK')], { messageId: `${prefix}-5f3a`, ...more });
const stateOf = ({ status }: Task) => TaskState[status!.state];
const partsOf = ({ artifacts }: Task) => artifacts.map(({ parts }) => parts);
const words = ({ status }: Task) => findContent(status?.message?.parts ?? [], 'text');

async function received(stream: AsyncGenerator<StreamResponse>) {
  const events: StreamResponse['payload'][] = [];
  for await (const { payload } of stream) events.push(payload);
  return events;
}

const summarize = (events: StreamResponse['payload'][]) =>
  events.map((event) => {
    if (event?.$case === 'task') return `task ${stateOf(event.value)}`;
    if (event?.$case === 'statusUpdate') return TaskState[event.value.status!.state];
    return event?.$case === 'artifactUpdate' ? event.value.artifact!.parts : event?.$case;
  });

const text = (value: string) => expect.objectContaining({ content: { $case: 'text', value } });
describe.each(['JSONRPC', 'HTTP+JSON'] as const)('the scenarios of the official test kit over %s', (binding) => {
  it.each<[string, string, string | undefined, Part[][]]>([
    ['tck-complete-task', 'COMPLETED', 'Hello from TCK', []],
    ['tck-artifact-text', 'COMPLETED', undefined, [[text('Generated text content')]]],
    ['tck-input-required', 'INPUT_REQUIRED', 'Please provide input', []],
    ['tck-auth-required', 'AUTH_REQUIRED', 'Please authorize', []],
    ['tck-reject-task', 'REJECTED', 'rejected', []],
    ['tck-anything-else', 'COMPLETED', 'Unhandled messageId prefix', []],
  ])('%s ends %s', async (prefix, state, said, artifacts) => {
    const client = await open(served.url, binding);
    const task = asTask(await client.sendMessage(asked(prefix)));
    expect([stateOf(task), words(task), partsOf(task)]).toEqual([`TASK_STATE_${state}`, said, artifacts]);
    const stored = await client.getTask({ tenant: '', id: task.id, historyLength: undefined });
    expect([stateOf(stored), partsOf(stored)]).toEqual([stateOf(task), partsOf(task)]);
  });

  it.each<[string, unknown[]]>([
    ['tck-stream-001', ['TASK_STATE_WORKING', [text('Stream hello from TCK')], 'TASK_STATE_COMPLETED']],
    ['tck-stream-artifact-chunked', ['TASK_STATE_WORKING', [text('chunk-1 ')], [text('chunk-2')], 'TASK_STATE_COMPLETED']],
  ])('%s streams its events after the task', async (prefix, events) => {
    const client = await open(served.url, binding);
    expect(summarize(await received(client.sendMessageStream(asked(prefix))))).toEqual(['task TASK_STATE_SUBMITTED', ...events]);
  });

  it('continues an interrupted task with the next message, and notifies its callback', async () => {
    const client = await open(served.url, binding);
    const receiver = await startReceiver(200);
    onTestFinished(receiver.close);
    const authentication = { scheme: 'Bearer', credentials: 'tck-test-token' };
    const task = asTask(
      await client.sendMessage(withPush(asked('tck-input-required'), { id: 'tck-push-5f3a', url: receiver.url, authentication })),
    );
    const done = asTask(await client.sendMessage(asked('tck-complete-task', { taskId: task.id })));
    expect([done.id, stateOf(done)]).toEqual([task.id, 'TASK_STATE_COMPLETED']);
    const bodies = (await receiver.until(4)).map(({ body }) => JSON.parse(body));
    expect(bodies.map(({ task: whole, statusUpdate }) => (whole ?? statusUpdate).status.state)).toEqual([
      'TASK_STATE_SUBMITTED',
      'TASK_STATE_INPUT_REQUIRED',
      'TASK_STATE_WORKING',
      'TASK_STATE_COMPLETED',
    ]);
    expect(receiver.received[0]!.headers.authorization).toBe('Bearer tck-test-token');
    await expect(client.sendMessage(asked('tck-complete-task', { taskId: task.id }))).rejects.toMatchObject({
      reason: 'UNSUPPORTED_OPERATION',
    });
  });

  it('opens a task per message under a repeated id, within the limits', async () => {
    const client = await open(served.url, binding);
    const send = async () => asTask(await client.sendMessage(asked('tck-complete-task'))).id;
    expect(await send()).not.toBe(await send());
    const raw: Part = { ...textPart(''), content: { $case: 'raw', value: Buffer.from('tck') }, mediaType: 'application/x-unsupported' };
    const wrong = messageOf([raw], { messageId: 'tck-send-003-5f3a' });
    expect(await getRejectionMetadata(client.sendMessage(wrong))).toMatchObject({ code: 'UNSUPPORTED_MEDIA_TYPE' });
    const inward = withPush(asked('tck-complete-task'), { url: 'https://10.0.0.1/' });
    expect(await getRejectionMetadata(client.sendMessage(inward))).toMatchObject({ field: 'url' });
  });

  it('leaves other messages to the skills', async () => {
    const client = await open(served.url, binding);
    const task = asTask(await client.sendMessage(asked('ordinary', { messageId: randomUUID() })));
    expect(stateOf(task)).toBe('TASK_STATE_INPUT_REQUIRED');
    expect(JSON.stringify(task.status?.message?.parts)).toContain('predict_btc_direction');
  });
});
