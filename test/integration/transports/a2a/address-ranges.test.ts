import { randomBytes } from 'node:crypto';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { MAX_STREAMS } from '../../../../src/a2a/server.ts';
import type { TaskDoc } from '../../../../src/a2a/tasks.ts';
import { purgeExpired } from '../../../../src/app/retention.ts';
import { createRateLimits, createRequestCountStore } from '../../../../src/auth/rate-limits.ts';
import { createLog } from '../../../../src/platform/log.ts';
import { MARKET, message, rpcOf } from '../../../support/a2a/a2a-bench.ts';
import { a2aSuite, type SuiteBench } from '../../../support/a2a/a2a-suite.ts';

const suite = a2aSuite();
const { bench } = suite;

const FROM = (address: string) => ({ 'X-Forwarded-For': address });
const BASIC = { Authorization: 'Bearer basic' };
const PAYMENT = { 'x402.payment.status': 'payment-submitted', 'x402.payment.payload': { x402Version: 2 } };

/** A bench whose skills block until the test ends, so that streams stay open. */
async function heldBench(): Promise<SuiteBench> {
  const one = await bench();
  const { release } = one.hold();
  onTestFinished(release);
  return one;
}

/** Sends `message/stream`, and returns whether the stream opened or the code of its rejection. */
async function openStream({ url }: SuiteBench, headers: Record<string, string>, more: object = {}): Promise<string> {
  const aborting = new AbortController();
  onTestFinished(() => aborting.abort());
  const answer = await fetch(`${url}/a2a`, {
    method: 'POST',
    signal: aborting.signal,
    headers: { 'Content-Type': 'application/json', 'A2A-Version': '1.0', ...headers },
    body: JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'SendStreamingMessage', params: message(MARKET, more) }),
  });
  if (answer.headers.get('Content-Type')?.startsWith('text/event-stream')) return 'open';
  const { error } = (await answer.json()) as { error: { data: { reason: string; metadata: Record<string, string> }[] } };
  expect(error.data[0]!.metadata).toMatchObject({ retryAfterSeconds: expect.any(String), suggestedAction: expect.stringMatching(/\w/) });
  return error.data[0]!.reason;
}

/** Opens one stream from each address, and counts the outcomes. */
async function openFrom(one: SuiteBench, addresses: readonly string[], more?: object): Promise<Record<string, number>> {
  const outcomes = await Promise.all(addresses.map((address) => openStream(one, FROM(address), more)));
  return Object.fromEntries(Object.entries(Object.groupBy(outcomes, (outcome) => outcome)).map(([key, all]) => [key, all!.length]));
}

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);
/** Addresses in /64s of one /56, or of one /48 with a /56 each. */
const inOne56 = (count: number) => numbers(count).map((n) => `2001:db8:a:${n.toString(16)}::1`);
const inOne48 = (count: number) => numbers(count).map((n) => `2001:db8:b:${n.toString(16)}00::1`);
const scattered = (count: number) => numbers(count).map((n) => `198.51.${100 + (n >> 8)}.${n & 255}`);

describe('streams of anonymous clients', () => {
  test('are limited per /56 and per /48', async () => {
    const one = await heldBench();
    const { per56, per48 } = MAX_STREAMS;
    expect(await openFrom(one, inOne56(per56 + 5))).toEqual({ open: per56, RATE_LIMITED: 5 });
    expect(await openFrom(one, inOne48(per48 + 5))).toEqual({ open: per48, RATE_LIMITED: 5 });
    expect(await openStream(one, FROM('2001:db8:c::1'))).toBe('open');
  });

  test('of a few addresses leave a part of the share for addresses that have none', async () => {
    const one = await heldBench();
    const { anonymous, perClient } = MAX_STREAMS;
    const flood = numbers(Math.ceil(anonymous / perClient)).flatMap((n) => Array<string>(perClient).fill(`198.51.100.${n}`));
    const { open = 0 } = await openFrom(one, flood);
    expect(open).toBeLessThan(anonymous);
    expect(
      await openFrom(
        one,
        scattered(anonymous - open).map((address) => address.replace('198.51', '203.0')),
      ),
    ).toEqual({ open: anonymous - open });
    expect(await openStream(one, FROM('203.1.0.1'))).toBe('RATE_LIMITED');
  });

  test('leave a share for payers and one for token holders', async () => {
    const one = await heldBench();
    const { anonymous, anonymousAndPayers } = MAX_STREAMS;
    expect(await openFrom(one, scattered(anonymous + 3))).toEqual({ open: anonymous, RATE_LIMITED: 3 });
    const payers = anonymousAndPayers - anonymous;
    const paying = { metadata: PAYMENT };
    expect(await openFrom(one, scattered(payers + 3), paying)).toEqual({ open: payers, RATE_LIMITED: 3 });
    expect(await openStream(one, { ...FROM('198.51.100.1'), ...BASIC })).toBe('open');
  });
});

describe('a task in INPUT_REQUIRED', () => {
  const STATE = 'TASK_STATE_INPUT_REQUIRED';

  test('ends the streams of messages over both bindings and versions, and of subscribers of 0.3', async () => {
    const { url } = await bench();
    const ended = AbortSignal.timeout(5_000);
    const eventsOf = async (path: string, version: string, body?: object) => {
      const headers = { 'Content-Type': 'application/json', 'A2A-Version': version };
      const answer = await fetch(url + path, { method: 'POST', signal: ended, headers, body: body && JSON.stringify(body) });
      return answer.text();
    };
    const { id } = (await rpcOf(url)('SendMessage', message({ text: 'hello' }))).body.result.task;
    const rpc = (method: string, params: object) => ({ jsonrpc: '2.0', id: 7, method, params });
    const old = () => ({
      message: { messageId: crypto.randomUUID(), role: 'user', kind: 'message', parts: [{ kind: 'text', text: 'hello' }] },
    });
    const oldRest = { message: { messageId: crypto.randomUUID(), role: 'ROLE_USER', content: [{ text: 'hello' }] } };
    expect(await eventsOf('/a2a', '1.0', rpc('SendStreamingMessage', message({ text: 'hello' })))).toContain(STATE);
    expect(await eventsOf('/a2a/rest/message:stream', '1.0', message({ text: 'hello' }))).toContain(STATE);
    expect(await eventsOf('/a2a', '0.3', rpc('message/stream', old()))).toContain('input-required');
    expect(await eventsOf('/a2a', '0.3', rpc('tasks/resubscribe', { id }))).toContain('input-required');
    expect(await eventsOf('/a2a/rest/v1/message:stream', '0.3', oldRest)).toContain(STATE);
    expect(await eventsOf(`/a2a/rest/v1/tasks/${id}:subscribe`, '0.3')).toContain(STATE);
  });
});

describe('tasks of anonymous clients', () => {
  const TASKS = { public: 10_000, wallet: 10_000, rpc: 10_000, tasks: 5 };
  const stored = () => suite.database.db.collection<TaskDoc>('a2a_tasks');
  const messages = () => suite.database.db.collection('a2a_messages');
  const clock = { ms: Date.UTC(2026, 4, 1, 12, 30) };
  const now = () => new Date(clock.ms);
  const log = createLog({ level: 'silent', secrets: [] });

  /** A process with a quota of 5 storage units of 4 kB per client and hour. */
  const limitedBench = () =>
    bench({ now, limits: createRateLimits({ counts: createRequestCountStore(suite.database.db), limits: TASKS, now, log }) });

  /** Outcomes of messages by address. */
  async function sendFrom({ rpc }: SuiteBench, addresses: readonly string[], more: object = {}): Promise<Record<string, number>> {
    const answers = await Promise.all(addresses.map((address) => rpc('SendMessage', message(MARKET, more), FROM(address))));
    const outcomes = answers.map(({ body }) =>
      body.result === undefined ? body.error.data[0].metadata.code : body.result.task.status.state,
    );
    return Object.fromEntries(Object.entries(Object.groupBy(outcomes, (outcome) => outcome)).map(([key, all]) => [key, all!.length]));
  }

  beforeEach(async () => {
    clock.ms += 3 * 3_600_000;
    await Promise.all([stored().deleteMany({}), messages().deleteMany({})]);
  });

  test('are limited per address, /56, /48 and in total across two processes, and rejected ones are not stored', async () => {
    const [one, two] = [await limitedBench(), await limitedBench()];
    const done = 'TASK_STATE_COMPLETED';
    expect(await sendFrom(one, Array(7).fill('2001:db8:e::1'))).toEqual({ [done]: 5, RATE_LIMITED: 2 });
    expect(await sendFrom(one, inOne56(12))).toEqual({ [done]: 10, RATE_LIMITED: 2 });
    expect(await sendFrom(one, inOne48(23))).toEqual({ [done]: 20, RATE_LIMITED: 3 });
    const left = 100 - 35;
    // Each address has sent before, so that the reserve is not for it.
    for (const bench of [one, two]) expect(await sendFrom(bench, scattered(20))).toEqual({ [done]: 20 });
    const [here, there] = await Promise.all(
      [one, two].map((bench) => sendFrom(bench, [...scattered(20), ...scattered(20), ...scattered(20)])),
    );
    const taken = 40 + (here![done] ?? 0) + (there![done] ?? 0);
    expect(taken).toBeLessThanOrEqual(left);
    expect(taken).toBeGreaterThan(left - 20);
    // An address that has sent none is admitted all the same.
    const fresh = numbers(20).map((n) => `203.0.113.${n}`);
    const third = await limitedBench();
    expect(await sendFrom(one, fresh.slice(10))).toEqual({ [done]: 10 });
    expect(await sendFrom(third, fresh.slice(0, 10))).toEqual({ [done]: 10 });
    expect(await stored().countDocuments()).toBe(35 + taken + 20);
    expect(await messages().countDocuments()).toBe(35 + taken + 20);
    const holder = await one.rpc('SendMessage', message(MARKET), { ...FROM('198.51.100.1'), ...BASIC });
    expect(holder.body.result.task.status.state).toBe(done);
  });

  test('return Retry-After and the exhausted scope, and are accepted in the next hour', async () => {
    const one = await limitedBench();
    const addresses = Array(5).fill('203.0.113.77');
    await sendFrom(one, addresses);
    const refused = await one.rpc('SendMessage', message(MARKET), FROM('203.0.113.77'));
    expect(refused.headers.get('RateLimit-Policy')).toContain('"tasks";q=5;w=3600');
    expect(refused.body.error.data[0]).toMatchObject({
      reason: 'RATE_LIMITED',
      metadata: { retryAfterSeconds: '1800', code: 'RATE_LIMITED' },
    });
    clock.ms += 1_800_000;
    expect(await sendFrom(one, addresses)).toEqual({ TASK_STATE_COMPLETED: 5 });
  });

  test('take twice as much of the limit of requests where they are long', async () => {
    const limits = createRateLimits({
      counts: createRequestCountStore(suite.database.db),
      limits: { ...TASKS, public: 7, tasks: 1_000 },
      now,
      log,
    });
    const one = await bench({ now, limits });
    const outcomes: string[] = [];
    for (const [index, text] of ['short', ...Array(4).fill('long '.repeat(300))].entries()) {
      const { status } = await one.rpc('SendMessage', message({ text }, { messageId: `long-${index}` }), FROM('203.0.113.99'));
      outcomes.push(String(status));
    }
    expect(outcomes).toEqual(['200', '200', '200', '200', '429']);
  });

  test('are metered by size, and a repeated message is metered once', async () => {
    const one = await limitedBench();
    const large = message({ text: `bitcoin price ${'x'.repeat(3_000)}` }, { metadata: { m: 'y'.repeat(1_900) } });
    const here = FROM('203.0.113.78');
    for (let count = 0; count < 4; count++) expect((await one.rpc('SendMessage', large, here)).body.error).toBeUndefined();
    expect(await sendFrom(one, Array(4).fill('203.0.113.78'))).toEqual({ TASK_STATE_COMPLETED: 3, RATE_LIMITED: 1 });
  });

  test('are stored in little more than the size of their request', async () => {
    const one = await bench();
    const here = FROM('203.0.113.79');
    const text = `bitcoin price ${randomBytes(2_000).toString('base64')}`;
    const metadata = { m: randomBytes(1_400).toString('base64') };
    const requests = [
      message({ text: 'hello' }),
      message({ text: 'will bitcoin go up' }),
      message(MARKET),
      message({ text }, { metadata }),
    ];
    for (const request of requests) {
      const { task } = (await one.rpc('SendMessage', request, here)).body.result;
      const doc = await stored().findOne({ _id: task.id });
      expect(doc!.task.length).toBeLessThan(JSON.stringify(request).length + 1_536);
      expect((await one.rpc('GetTask', { id: task.id }, here)).body.result).toEqual(task);
    }
  });

  test('expire an hour after opening however often they continue, and wallet tasks do not', async () => {
    const one = await bench({ now });
    const here = FROM('203.0.113.80');
    const { id } = (await one.rpc('SendMessage', message({ text: 'hello' }), here)).body.result.task;
    const own = (await one.rpc('SendMessage', message({ text: 'hello' }), BASIC)).body.result.task;
    clock.ms += 3_500_000;
    await one.rpc('SendMessage', message({ text: 'hello' }, { taskId: id }), here);
    await purgeExpired(suite.database.db, now());
    expect(await stored().countDocuments({ _id: id })).toBe(1);
    clock.ms += 200_000;
    await purgeExpired(suite.database.db, now());
    expect(await stored().countDocuments({ _id: id })).toBe(0);
    expect(await stored().countDocuments({ _id: own.id })).toBe(1);
  });
});
