import { setTimeout as delay } from 'node:timers/promises';
import type { CommandStartedEvent } from 'mongodb';
import { afterAll, beforeAll, beforeEach, expect, it, onTestFinished } from 'vitest';
import type { PipelineContext } from '../../../../src/pipeline/forecaster.ts';
import { type QueueHandler, type QueueItem, STEP_JOBS, startSchedule } from '../../../../src/pipeline/schedule.ts';
import { QUEUE_INDEXES } from '../../../../src/pipeline/timetable.ts';
import { createLog } from '../../../../src/platform/log.ts';
import { connectMongo, ensureIndexes } from '../../../../src/platform/mongo.ts';
import { type ActiveTrace, getActiveTrace, inEntry } from '../../../../src/platform/tracing.ts';
import { timeOf } from '../../../support/clock/trusted-time.ts';
import { type TestDatabase, testDatabase } from '../../../support/database/database.ts';

let database: TestDatabase;
const NAME = 'work';
const now = () => new Date();
const item = (subject: string, inMs = 0): QueueItem => ({ subject, at: new Date(Date.now() + inMs) });

beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.drop());
beforeEach(async () => {
  await database.db.dropDatabase();
  await ensureIndexes(database.db, QUEUE_INDEXES);
});

const jobs = () => database.db.collection('jobs').find({ name: NAME }).toArray();

/** A worker whose recurring jobs do nothing. */
async function start(job: Partial<QueueHandler> & Pick<QueueHandler, 'run'>, db = database.db) {
  const lines: string[] = [];
  const log = createLog({ level: 'error', secrets: [], write: (line) => void lines.push(line) });
  const idle = Object.fromEntries(Object.keys(STEP_JOBS).map((name) => [name, { cron: '0 0 1 1 *', run: async () => undefined }]));
  const queues = { [NAME]: { concurrency: 2, lockMs: 60_000, ...job } };
  const schedule = await startSchedule({ db, deps: { time: timeOf(now) } as PipelineContext, jobs: idle, queues, log, now });
  onTestFinished(() => schedule.drain(2_000));
  return { enqueue: (queued: QueueItem) => schedule.enqueue(NAME, queued), lines };
}

async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await delay(10);
}

/** Work that runs until it is aborted. */
function held() {
  const began: string[] = [];
  const ends: (() => void)[] = [];
  const run = async ({ subject }: QueueItem) => {
    began.push(subject);
    await new Promise<void>((resolve) => ends.push(resolve));
  };
  return { began, run, end: (index: number) => ends[index]!() };
}

it('keeps one item per subject, queued or running, regardless of how often it is enqueued', async () => {
  const { began, run, end } = held();
  const workers = [await start({ run }), await start({ run })];
  await Promise.all(Array.from({ length: 20 }, (_, index) => workers[index % 2]!.enqueue(item('a'))));
  await until(() => began.length === 1);
  for (const { enqueue } of workers) await enqueue(item('a'));
  expect([began, (await jobs()).length]).toEqual([['a'], 1]);
  end(0);
  await until(async () => (await jobs()).length === 0);
  await workers[0]!.enqueue(item('a'));
  await until(() => began.length === 2);
  end(1);
});

it('moves a queued item to an earlier time, never to a later one', async () => {
  const began: string[] = [];
  const { enqueue } = await start({ run: async ({ subject }) => void began.push(subject) });
  await enqueue(item('a', 3_600_000));
  const [first] = await jobs();
  await enqueue(item('a', 7_200_000));
  expect((await jobs()).map(({ nextRunAt }) => nextRunAt)).toEqual([first!.nextRunAt]);
  await enqueue(item('a'));
  await until(() => began.length === 1);
});

it('calls onEnded after the item left the queue; items enqueued shortly before are ignored', async () => {
  const order: string[] = [];
  const worker = await start({
    async run() {
      order.push('run');
      await worker.enqueue(item('a'));
    },
    async onEnded(done) {
      order.push('ended');
      expect(await jobs()).toEqual([]);
      if (order.length < 4) await worker.enqueue(done);
    },
  });
  await worker.enqueue(item('a'));
  await until(() => order.length === 4);
  expect(order).toEqual(['run', 'ended', 'run', 'ended']);
  await until(async () => (await jobs()).length === 0);
});

it('starts the next items as slots become free, without waiting for the next poll', async () => {
  const began: string[] = [];
  const { enqueue } = await start({ concurrency: 2, run: async ({ subject }) => void began.push(subject) });
  const names = Array.from({ length: 30 }, (_, index) => `subject ${index}`);
  const started = performance.now();
  await Promise.all(names.map((name) => enqueue(item(name))));
  await until(() => began.length === 30);
  // Agenda polls every five seconds, for two items at a time.
  expect(performance.now() - started).toBeLessThan(5_000);
  expect(began.toSorted()).toEqual(names.toSorted());
});

it('runs the items of a dead worker once its lock expires', async () => {
  const began: string[] = [];
  const { enqueue } = await start({ lockMs: 1_000, run: async ({ subject }) => void began.push(subject) });
  await enqueue(item('a', 3_600_000));
  const dead = { lockedAt: new Date(Date.now() - 900), nextRunAt: null };
  await database.db.collection('jobs').updateOne({ name: NAME }, { $set: dead });
  await until(async () => {
    await enqueue(item('a'));
    return began.length === 1;
  });
  expect(Date.now() - dead.lockedAt.getTime()).toBeGreaterThanOrEqual(1_000);
  await until(async () => (await jobs()).length === 0);
});

it('drops failed items, and a done item that was not removed does not block its subject', async () => {
  let calls = 0;
  const { enqueue, lines } = await start({
    async run() {
      calls += 1;
      if (calls === 1) throw new Error('broken');
    },
  });
  await enqueue(item('a'));
  await until(async () => calls === 1 && (await jobs()).length === 0);
  expect(lines.filter((line) => line.includes('queued job failed'))).toHaveLength(1);

  await enqueue(item('b', 3_600_000));
  await database.db.collection('jobs').updateOne({ name: NAME }, { $set: { lockedAt: null, nextRunAt: null } });
  await enqueue(item('b'));
  await until(() => calls === 2);
});

it('finds an item by its index among many', async () => {
  const { db, client, close } = await connectMongo(database.uri, { monitorCommands: true });
  onTestFinished(close);
  const collection = db.collection('jobs');
  const many = Array.from({ length: 2_000 }, (_, n) => ({
    name: NAME,
    data: { queued: `${NAME}:${n}` },
    nextRunAt: null,
    lockedAt: now(),
  }));
  // Items of another release lack the key, or share it.
  const older = [1, 2].map(() => ({ name: NAME, data: { key: 'x' }, nextRunAt: null, lockedAt: now() }));
  await collection.insertMany([...many, ...older]);
  const { enqueue } = await start({ run: async () => undefined }, db);
  const asked: CommandStartedEvent[] = [];
  client.on('commandStarted', (event) => void asked.push(event));
  await enqueue(item('1000'));
  expect(await collection.countDocuments({ 'data.queued': `${NAME}:1000` })).toBe(1);
  // Agenda's own query for the next job uses its own index.
  const ours = asked.filter(({ command, commandName }) => command[commandName] === 'jobs' && /^(insert|find|update)$/.test(commandName));
  expect(ours.map(({ commandName }) => commandName)).toEqual(['insert', 'update']);
  const [{ q, hint }] = ours[1]!.command.updates;
  const { executionStats } = await collection.find(q, { hint }).explain('executionStats');
  expect(executionStats).toMatchObject({ totalKeysExamined: 1, totalDocsExamined: 1 });
});

it('runs an item that a request has queued in the trace of the request, and an item that a job has queued in a new one', async () => {
  const seen = new Map<string, ActiveTrace>();
  const run = async ({ subject }: QueueItem) => {
    seen.set(subject, getActiveTrace()!);
    if (subject === 'asked') await enqueue(item('follows'));
  };
  const { enqueue } = await start({ run });
  const parent = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331', isSampled: true };
  await inEntry({ name: 'GET', parent, fields: { requestId: 'request' } }, () => enqueue(item('asked')));
  await until(() => seen.has('follows'));
  expect(seen.get('asked')).toMatchObject({
    traceId: parent.traceId,
    requestId: 'request',
    jobId: expect.stringMatching(/^[0-9a-f]{24}$/),
  });
  expect(seen.get('follows')).toMatchObject({ traceId: expect.not.stringContaining(parent.traceId), requestId: undefined });
});
