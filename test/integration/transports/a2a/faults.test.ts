import { type Collection, type Db, MongoNetworkError } from 'mongodb';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { getUser } from '../../../../src/a2a/plan.ts';
import { purgeExpired } from '../../../../src/app/retention.ts';
import { PUBLIC_CALLER } from '../../../../src/auth/caller.ts';
import type { RateLimiter } from '../../../../src/auth/rate-limits.ts';
import { OracleError } from '../../../../src/errors.ts';
import { type Answer, idleFor, MARKET, message, rpcOf, streamOf } from '../../../support/a2a/a2a-bench.ts';
import { a2aSuite } from '../../../support/a2a/a2a-suite.ts';
import { callContext } from '../../../support/a2a/call-context.ts';

const SECRET = 'mongodb://user:hunter2@internal';
const TOLD = { code: -32603, data: [{ reason: 'DATABASE_UNAVAILABLE', metadata: { retryable: 'true' } }] };

const suite = a2aSuite();
const { bench } = suite;

beforeAll(() => {
  // The SDK logs every error to the console.
  vi.spyOn(console, 'error').mockReturnValue();
  vi.spyOn(console, 'warn').mockReturnValue();
});
afterAll(() => {
  vi.restoreAllMocks();
});

type Bench = Awaited<ReturnType<typeof bench>>;

const ASKED = ['insertOne', 'updateOne', 'findOne'];

interface Fault {
  /** Number of the command at which the connection is lost. */
  nth: number;
  forQuestions: number;
  /** Whether commands still take effect and only responses are lost. */
  isDone?: boolean;
}

/** A database that is unreachable for a while. */
function failing(db: Db, { nth, forQuestions, isDone = false }: Fault): Db {
  let asked = 0;
  const guarded = (collection: Collection) =>
    new Proxy(collection, {
      get(target, name: keyof Collection & string) {
        if (!ASKED.includes(name)) return Reflect.get(target, name, target);
        return async (...given: unknown[]) => {
          asked += 1;
          const isAway = asked >= nth && asked < nth + forQuestions;
          const answer = isAway && !isDone ? null : await (target[name] as (...all: unknown[]) => unknown)(...given);
          if (isAway) throw new MongoNetworkError(`no route to ${SECRET}`);
          return answer;
        };
      },
    });
  const collection = (name: string) => guarded(db.collection(name));
  return new Proxy(db, { get: (target, name) => (name === 'collection' ? collection : Reflect.get(target, name, target)) });
}

const GONE: Fault = { nth: 1, forQuestions: 1_000 };
/** More commands than a message causes. */
const MAX_COMMANDS = 24;

let callers = 0;

describe('a lost database connection', () => {
  describe.each(['an opening message', 'a follow-up', 'a stream'])('during %s', (kind) => {
    async function scene(healthy: Bench, fault: Fault) {
      const broken = await bench({ db: failing(suite.database.db, fault) });
      callers += 1;
      const headers = { 'X-Forwarded-For': `2001:db8:0:${callers.toString(16)}::1` };
      const owner = { owner: `address:2001:db8:0:${callers.toString(16)}::/64` };
      const taskId = kind === 'a follow-up' ? (await healthy.rpc('SendMessage', message({ text: 'hm' }), headers)).body.result.task.id : '';
      const same = message(MARKET, { taskId });
      const again = async (at: Bench): Promise<Answer['body']> => (await at.rpc('SendMessage', same, headers)).body;
      const send = async () => {
        if (kind !== 'a stream') return again(broken);
        const last = (await streamOf(broken.url, 'SendStreamingMessage', same, { headers })).at(-1);
        return { error: last.error, result: { task: last.statusUpdate } };
      };
      return { broken, send, again, count: () => suite.database.db.collection('a2a_tasks').countDocuments(owner) };
    }

    async function expectOneEnd({ broken, again, count }: Awaited<ReturnType<typeof scene>>, at: Bench) {
      const { result } = await again(at);
      expect(result.task).toMatchObject({ status: { state: 'TASK_STATE_COMPLETED' }, artifacts: [{}] });
      expect(await count()).toBe(1);
      expect(broken.runs()).toBeLessThanOrEqual(at === broken ? 2 : 1);
    }

    const steps = Array.from({ length: MAX_COMMANDS }, (_, index) => index + 1);

    test.each([false, true])('leaks nothing when permanent, and the repeated message reaches one end (done: %s)', async (isDone) => {
      const healthy = await bench();
      const scenes = await Promise.all(steps.map((nth) => scene(healthy, { ...GONE, nth, isDone })));
      const answers = await Promise.all(scenes.map((at) => at.send()));
      expect(JSON.stringify(answers)).not.toContain('hunter2');
      for (const { error } of answers) if (error !== undefined) expect(error).toMatchObject(TOLD);
      expect(answers.at(-1)!.error).toBeUndefined();
      await idleFor(suite.database.db);
      await Promise.all(scenes.map((at) => expectOneEnd(at, healthy)));
      expect(healthy.runs()).toBeLessThanOrEqual(steps.length);
    });

    test.each([false, true])('lets the same process continue with the repeated message when short (done: %s)', async (isDone) => {
      const healthy = await bench();
      const scenes = await Promise.all(steps.map((nth) => scene(healthy, { nth, forQuestions: 1, isDone })));
      const send = async (at: (typeof scenes)[number]) => {
        const { error, result } = await at.send();
        if (error === undefined) return expect(result.task.status.state).toBe('TASK_STATE_COMPLETED');
        expect(error).toMatchObject(TOLD);
        await expectOneEnd(at, at.broken);
      };
      await Promise.all(scenes.map(send));
      expect(healthy.runs()).toBe(0);
    });
  });

  test('returns 503 with our code over HTTP+JSON', async () => {
    const broken = await bench({ db: failing(suite.database.db, GONE) });
    const answer = await fetch(`${broken.url}/a2a/rest/tasks/x`, { headers: { 'A2A-Version': '1.0' } });
    expect(answer.status).toBe(503);
    expect(await answer.json()).toMatchObject({
      error: { details: [{ reason: 'DATABASE_UNAVAILABLE', metadata: { retryable: 'true' } }] },
    });
  });

  test('returns our code in protocol 0.3', async () => {
    const broken = await bench({ db: failing(suite.database.db, GONE) });
    const { body } = await rpcOf(broken.url)('tasks/get', { id: 'x' }, { 'A2A-Version': '0.3' });
    expect(body.error).toMatchObject({ code: -32603, data: [{ metadata: { code: 'DATABASE_UNAVAILABLE' } }] });
  });
});

describe('a failing skill', () => {
  test('puts our error with its action into the task', async () => {
    const failed = async () => {
      throw new OracleError('CHAIN_UNREACHABLE', 'The chain does not answer', { retryAfterSeconds: 9 });
    };
    const { body } = await (await bench({ runSkill: failed })).rpc('SendMessage', message(MARKET));
    expect(body.result.task).toMatchObject({
      status: {
        state: 'TASK_STATE_FAILED',
        message: {
          parts: [
            { text: expect.stringContaining('The chain does not answer') },
            { data: { code: 'CHAIN_UNREACHABLE', retryable: true, retryAfterSeconds: 9 } },
          ],
        },
      },
    });
    expect(body.result.task.artifacts ?? []).toEqual([]);
  });

  test('logs an unknown error and sends nothing of it', async () => {
    const lines: string[] = [];
    const failed = async () => {
      throw new TypeError(`cannot read ${SECRET}`);
    };
    const one = await bench({ runSkill: failed, lines });
    const { body } = await one.rpc('SendMessage', message(MARKET));
    expect(body.result.task.status.message.parts[1].data).toMatchObject({ code: 'INTERNAL', retryable: false });
    expect(JSON.stringify(body)).not.toContain('hunter2');
    expect(lines.join('')).toContain('a task failed');
    const { requestContext } = getUser(callContext({ caller: PUBLIC_CALLER, address: '127.0.0.1' }));
    const again = await one.a2a.tasks.get(body.result.task.id, requestContext);
    expect(again).toMatchObject({ outcome: { status: 'failed', error: { code: 'INTERNAL' } } });
  });
});

describe('limits', () => {
  const spent: RateLimiter = {
    take: async () => ({ policy: 'public', allowed: false, scope: 'client', limit: 60, windowSeconds: 60, remaining: 0, resetSeconds: 17 }),
    getRejection: () => null,
  } as never;

  test.each([
    ['/a2a', (body: never) => (body as { error: { code: number } }).error.code, -32600],
    ['/a2a/rest/message:send', (body: never) => (body as { error: { status: string } }).error.status, 'RESOURCE_EXHAUSTED'],
  ])('return protocol errors with status and headers: %s', async (path, codeOf, code) => {
    const { url } = await bench({
      limits: { public: spent, wallet: spent, rpc: spent, failures: spent, payer: spent, payments: spent, tasks: spent },
    });
    const headers = { 'Content-Type': 'application/json', 'A2A-Version': '1.0' };
    const answer = await fetch(`${url}${path}`, { method: 'POST', headers, body: '{}' });
    expect([answer.status, answer.headers.get('Retry-After')]).toEqual([429, '17']);
    const body = await answer.json();
    expect(codeOf(body as never)).toBe(code);
    expect(JSON.stringify(body)).toContain('"code":"RATE_LIMITED"');
  });
});

test('purge deletes expired tasks and messages, and no others', async () => {
  const one = await bench();
  const own = { 'X-Forwarded-For': '203.0.113.77' };
  const same = message(MARKET);
  const { body } = await one.rpc('SendMessage', same, own);
  await purgeExpired(suite.database.db, new Date(Date.now() + 55 * 60_000));
  expect((await one.rpc('GetTask', { id: body.result.id ?? body.result.task.id }, own)).body.result).toBeDefined();
  await purgeExpired(suite.database.db, new Date(Date.now() + 65 * 60_000));
  expect((await one.rpc('GetTask', { id: body.result.task.id }, own)).body.error.code).toBe(-32001);
  expect((await one.rpc('SendMessage', same, own)).body.result.task.id).not.toBe(body.result.task.id);
});
