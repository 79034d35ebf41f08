import { type Collection, type Db, MongoNetworkError } from 'mongodb';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { LEASE_MS } from '../../../src/a2a/task-store.ts';
import type { RateLimiter } from '../../../src/access/rate-limits.ts';
import { OracleError } from '../../../src/errors.ts';
import { type A2aBench, a2aBench, type BenchOptions, MARKET, message, rpcOf } from '../../support/a2a-bench.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';

const SECRET = 'mongodb://user:hunter2@internal';

let database: TestDatabase;
const benches: A2aBench[] = [];

beforeAll(async () => {
  database = await testDatabase();
  // The protocol's library tells the console of every error.
  vi.spyOn(console, 'error').mockReturnValue();
  vi.spyOn(console, 'warn').mockReturnValue();
});
afterEach(async () => {
  for (const bench of benches.splice(0)) {
    bench.stop();
    await bench.a2a.drain();
    await bench.close();
  }
});
afterAll(async () => {
  vi.restoreAllMocks();
  await database?.drop();
});

async function bench(options: Partial<BenchOptions> = {}) {
  const started = await a2aBench({ db: database.db, ...options });
  benches.push(started);
  return { ...started, rpc: rpcOf(started.url) };
}

const ASKED = ['insertOne', 'updateOne', 'findOne'];

/** A database that goes away at the nth question, and stays away for `forQuestions` of them. */
function failing(db: Db, nth: number, forQuestions: number): Db {
  let asked = 0;
  const guarded = (collection: Collection) =>
    new Proxy(collection, {
      get(target, name: keyof Collection & string) {
        if (!ASKED.includes(name)) return Reflect.get(target, name, target);
        return (...given: unknown[]) => {
          asked += 1;
          if (asked >= nth && asked < nth + forQuestions) return Promise.reject(new MongoNetworkError(`no route to ${SECRET}`));
          return (target[name] as (...all: unknown[]) => unknown)(...given);
        };
      },
    });
  const collection = (name: string) => guarded(db.collection(name));
  return new Proxy(db, { get: (target, name) => (name === 'collection' ? collection : Reflect.get(target, name, target)) });
}

describe('a database that goes away', () => {
  const steps = Array.from({ length: 16 }, (_, index) => index + 1);

  test.each(steps)('at question %i: nothing of it is told, and the message again leads to one end', async (nth) => {
    const started = Date.UTC(2026, 0, 5) + nth * 10 * LEASE_MS;
    let nowMs = started;
    const now = () => new Date(nowMs);
    const broken = await bench({ db: failing(database.db, nth, 1_000), now });
    const headers = { 'X-Forwarded-For': `198.51.100.${nth}` };
    const same = message(MARKET);
    const first = await broken.rpc('SendMessage', same, headers);
    expect(JSON.stringify(first.body)).not.toContain('hunter2');
    if (first.body.error !== undefined) {
      expect(first.body.error).toMatchObject({ code: -32603, data: [{ reason: 'DATABASE_UNAVAILABLE', metadata: { retryable: 'true' } }] });
    }
    nowMs += LEASE_MS;
    const healthy = await bench({ now });
    const again = await healthy.rpc('SendMessage', same, headers);
    expect(again.body.result.task.status.state).toBe('TASK_STATE_COMPLETED');
    expect(healthy.runs() + broken.runs()).toBeLessThanOrEqual(2);
    const { body } = await healthy.rpc('ListTasks', {}, headers);
    expect([body.result.totalSize, body.result.tasks[0].id]).toEqual([1, again.body.result.task.id]);
  });

  test('over HTTP+JSON it is a 503 with our code', async () => {
    const broken = await bench({ db: failing(database.db, 1, 1_000) });
    const answer = await fetch(`${broken.url}/a2a/rest/tasks/x`, { headers: { 'A2A-Version': '1.0' } });
    expect(answer.status).toBe(503);
    expect(await answer.json()).toMatchObject({
      error: { details: [{ reason: 'DATABASE_UNAVAILABLE', metadata: { retryable: 'true' } }] },
    });
  });

  test('in protocol 0.3 the error carries our code too', async () => {
    const broken = await bench({ db: failing(database.db, 1, 1_000) });
    const { body } = await rpcOf(broken.url)('tasks/get', { id: 'x' }, { 'A2A-Version': '0.3' });
    expect(body.error).toMatchObject({ code: -32603, data: [{ metadata: { code: 'DATABASE_UNAVAILABLE' } }] });
  });
});

describe('skills that fail', () => {
  test('by an error of ours: the task says what and what to do', async () => {
    const failed = async () => {
      throw new OracleError('CHAIN_UNREACHABLE', 'The chain does not answer', { retryAfterSeconds: 9 });
    };
    const { body } = await (await bench({ carryOut: failed })).rpc('SendMessage', message(MARKET));
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

  test('by any other: nothing of it is told, and the log has it', async () => {
    const lines: string[] = [];
    const failed = async () => {
      throw new TypeError(`cannot read ${SECRET}`);
    };
    const one = await bench({ carryOut: failed, lines });
    const { body } = await one.rpc('SendMessage', message(MARKET));
    expect(body.result.task.status.message.parts[1].data).toMatchObject({ code: 'INTERNAL', retryable: false });
    expect(JSON.stringify(body)).not.toContain('hunter2');
    expect(lines.join('')).toContain('a task failed');
    const again = await one.a2a.tasks.get(body.result.task.id, { caller: { tier: 'public' }, address: '127.0.0.1' });
    expect(again).toMatchObject({ outcome: { status: 'failed', error: { code: 'INTERNAL' } } });
  });
});

describe('limits', () => {
  const spent: RateLimiter = {
    take: async () => ({ policy: 'public', allowed: false, limit: 60, remaining: 0, resetSeconds: 17 }),
    refusal: () => null,
  } as never;

  test.each([
    ['/a2a', (body: never) => (body as { error: { code: number } }).error.code, -32600],
    ['/a2a/rest/message:send', (body: never) => (body as { error: { status: string } }).error.status, 'RESOURCE_EXHAUSTED'],
  ])('are told in the words of the protocol, with status and headers: %s', async (path, codeOf, code) => {
    const { url } = await bench({ limits: { public: spent, wallet: spent, rpc: spent, failures: spent } });
    const headers = { 'Content-Type': 'application/json', 'A2A-Version': '1.0' };
    const answer = await fetch(`${url}${path}`, { method: 'POST', headers, body: '{}' });
    expect([answer.status, answer.headers.get('Retry-After')]).toEqual([429, '17']);
    const body = await answer.json();
    expect(codeOf(body as never)).toBe(code);
    expect(JSON.stringify(body)).toContain('"code":"RATE_LIMITED"');
  });
});

test('what has expired is deleted: tasks, messages, and nothing younger', async () => {
  const one = await bench();
  const own = { 'X-Forwarded-For': '203.0.113.77' };
  const same = message(MARKET);
  const { body } = await one.rpc('SendMessage', same, own);
  await one.a2a.purge(new Date(Date.now() + 23 * 3_600_000));
  expect((await one.rpc('GetTask', { id: body.result.id ?? body.result.task.id }, own)).body.result).toBeDefined();
  await one.a2a.purge(new Date(Date.now() + 25 * 3_600_000));
  expect((await one.rpc('GetTask', { id: body.result.task.id }, own)).body.error.code).toBe(-32001);
  expect((await one.rpc('SendMessage', same, own)).body.result.task.id).not.toBe(body.result.task.id);
});
