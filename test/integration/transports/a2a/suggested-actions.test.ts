import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { OracleError } from '../../../../src/errors.ts';
import { MARKET, message } from '../../../support/a2a/a2a-bench.ts';
import { a2aSuite } from '../../../support/a2a/a2a-suite.ts';

const suite = a2aSuite();
const { bench } = suite;

beforeAll(() => {
  // The SDK logs every rejected stream to the console.
  vi.spyOn(console, 'error').mockReturnValue();
});
afterAll(() => {
  vi.restoreAllMocks();
});

async function rest(url: string, path: string, { headers = {}, body }: { headers?: Record<string, string>; body?: unknown } = {}) {
  const answer = await fetch(`${url}/a2a/rest/${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { ...(body === undefined ? {} : { 'Content-Type': 'application/json' }), ...headers },
    body: JSON.stringify(body),
  });
  // biome-ignore lint/suspicious/noExplicitAny: answers are what is tested
  return { status: answer.status, body: (await answer.json()) as any };
}

describe('a method of the other protocol version', () => {
  test.each([
    ['', 'SendMessage', 'Send A2A-Version: 1.0, or call message/send.'],
    ['0.3', 'ListTasks', 'Send A2A-Version: 1.0.'],
    ['1.0', 'message/send', 'Leave A2A-Version out, or call SendMessage.'],
    ['1.0', 'tasks/resubscribe', 'Leave A2A-Version out, or call SubscribeToTask.'],
  ])('returns the matching action: A2A-Version "%s", %s', async (version, method, suggestedAction) => {
    const { rpc } = await bench();
    const { status, body } = await rpc(method, message(MARKET), { 'A2A-Version': version });
    expect([status, body.id, body.error.code]).toEqual([200, 7, -32601]);
    expect(body.error.data[0].metadata).toEqual({ code: 'INPUT_INVALID', field: 'A2A-Version', retryable: 'false', suggestedAction });
  });

  test('returns VERSION_NOT_SUPPORTED for an unknown version', async () => {
    const { rpc } = await bench();
    const { body } = await rpc('message/send', {}, { 'A2A-Version': '2.0' });
    expect(body.error).toMatchObject({ code: -32009, data: [{ metadata: { suggestedAction: 'Send A2A-Version: 1.0 or 0.3.' } }] });
  });
});

describe('an unknown version', () => {
  const paths: [string, object | undefined][] = [
    ['message:send', message(MARKET)],
    ['v1/message:send', {}],
    ['tasks', undefined],
    ['tasks/x', undefined],
  ];
  test.each(paths)('returns the same action over HTTP+JSON as over JSON-RPC: %s', async (path, sent) => {
    const { url } = await bench();
    for (const version of ['2.0', 'garbage', '1']) {
      const { status, body } = await rest(url, path, { headers: { 'A2A-Version': version }, body: sent });
      expect([status, body.error.code, body.error.status]).toEqual([400, 400, 'FAILED_PRECONDITION']);
      expect(body.error.details).toMatchObject([
        {
          reason: 'VERSION_NOT_SUPPORTED',
          metadata: { code: 'INPUT_INVALID', field: 'A2A-Version', suggestedAction: 'Send A2A-Version: 1.0 or 0.3.' },
        },
      ]);
    }
  });

  test('is not assumed for a missing header', async () => {
    const { url } = await bench();
    expect((await rest(url, 'message:send', { body: message(MARKET) })).body.task.status.state).toBe('TASK_STATE_COMPLETED');
    expect((await rest(url, 'message:send', { headers: { 'A2A-Version': '1.0' }, body: message(MARKET) })).status).toBe(200);
    expect((await rest(url, 'v1/tasks/nobody', {})).body.data[0].metadata.code).toBe('NOT_FOUND');
  });
});

test.each(['GetTask', 'SendMessage', 'SendStreamingMessage', 'ListTasks'])('%s without params returns -32602', async (method) => {
  const { rpc } = await bench();
  expect((await rpc(method, undefined)).body.error).toMatchObject({ code: -32602, message: expect.stringMatching(/\w/) });
});

describe('a text without an answer returns how it was parsed', () => {
  const NOTE = /^Understood as (\w+)\. To ask exactly this, send a data part \{"skill":"\1"/;
  const failed = async () => {
    throw new OracleError('CHAIN_UNREACHABLE', 'The chain does not answer');
  };

  test('when it is rejected and when the skill fails', async () => {
    const { rpc } = await bench({ runSkill: failed });
    for (const [text, state, code] of [
      ['forecast for 2 days', 'TASK_STATE_REJECTED', 'UNAUTHENTICATED'],
      ['bitcoin price', 'TASK_STATE_FAILED', 'CHAIN_UNREACHABLE'],
    ]) {
      const { status } = (await rpc('SendMessage', message({ text }))).body.result.task;
      expect(status.state).toBe(state);
      const [words, data, note, ...more] = status.message.parts;
      expect(words.text).not.toMatch(NOTE);
      expect([data.data.code, more]).toEqual([code, []]);
      expect(note.text).toMatch(NOTE);
    }
  });

  test('but a data part does not', async () => {
    const { rpc } = await bench({ runSkill: failed });
    for (const part of [MARKET, { text: JSON.stringify(MARKET.data) }]) {
      expect((await rpc('SendMessage', message(part))).body.result.task.status.message.parts).toHaveLength(2);
    }
  });
});

describe('accepted output modes', () => {
  const tasks = () => suite.database.db.collection('a2a_tasks').countDocuments();
  const wanting = (...acceptedOutputModes: string[]) => ({ ...message(MARKET), configuration: { acceptedOutputModes } });

  test.each([[['image/png']], [['text/html', 'application/pdf', '']], [['json', 'video/*']]])(
    'without a supported one are rejected before a task is opened: %j',
    async (modes) => {
      const { url, rpc, runs } = await bench();
      const before = await tasks();
      const advice = {
        code: 'UNSUPPORTED_MEDIA_TYPE',
        field: 'configuration.acceptedOutputModes',
        suggestedAction: 'Accept application/json or text/plain, or leave it out.',
      };
      for (const method of ['SendMessage', 'SendStreamingMessage']) {
        const { body } = await rpc(method, wanting(...modes));
        expect(body.error).toMatchObject({ code: -32005, data: [{ reason: 'CONTENT_TYPE_NOT_SUPPORTED', metadata: advice }] });
      }
      const over = await rest(url, 'message:send', { body: wanting(...modes) });
      expect([over.status, over.body.error.details]).toMatchObject([400, [{ reason: 'CONTENT_TYPE_NOT_SUPPORTED', metadata: advice }]]);
      const parts = [{ kind: 'data', data: MARKET.data }];
      const older = { message: { messageId: crypto.randomUUID(), role: 'user', parts }, configuration: { acceptedOutputModes: modes } };
      expect((await rpc('message/send', older, { 'A2A-Version': '0.3' })).body.error.code).toBe(-32005);
      expect([await tasks(), runs()]).toEqual([before, 0]);
    },
  );

  test.each([
    [[]],
    [['text/plain']],
    [['Application/JSON; charset=utf-8']],
    [['image/png', 'text/*']],
    [['application/*']],
    [['*/*']],
    [['text']],
  ])('with a supported one have no effect: %j', async (modes) => {
    const { rpc } = await bench();
    const { artifacts } = (await rpc('SendMessage', wanting(...modes))).body.result.task;
    expect(artifacts[0].parts).toMatchObject([{ data: {} }, { text: 'answered' }]);
  });
});
