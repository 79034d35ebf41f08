import { MongoBackend } from '@agendajs/mongo-backend';
import { Agenda, InMemoryNotificationChannel, type Job } from 'agenda';
import type { Db } from 'mongodb';
import { type Day, toDay } from '../../forecast/day.ts';
import type { Log } from '../../platform/log.ts';
import { catchUp } from '../catch-up.ts';
import { createLiveContext, type PipelineDeps, type StepContext } from '../deps.ts';
import { catchUpSelfTests } from '../self-test/catch-up.ts';
import { runOutcomeCheck, runStep } from '../step-registry.ts';
import { JobQueue, type QueueHandler, type QueueItem } from './job-queue.ts';
import { inJobTrace } from './job-trace.ts';
import { JOBS_COLLECTION } from './queue-indexes.ts';
import { ScheduleClock } from './schedule-clock.ts';
import { TIMETABLE, toCron } from './timetable.ts';

interface StepJob {
  cron: string;
  run(deps: PipelineDeps, day: Day, context: StepContext): Promise<unknown>;
}

/** The recurring jobs, cron lines in UTC. Catch-up retries every step that an earlier run left waiting. */
export const STEP_JOBS: Record<string, StepJob> = {
  ...Object.fromEntries(
    TIMETABLE.map((entry): [string, StepJob] => {
      const { step } = entry;
      const run: StepJob['run'] = (deps, day, context) =>
        step === 'outcome-check' ? runOutcomeCheck(deps, context) : runStep(deps, step, day, context);
      return [step, { cron: toCron(entry), run }];
    }),
  ),
  'catch-up': { cron: '* * * * *', run: (deps, _day, context) => catchUp(deps, context) },
  // A separate job: computations of minutes must not delay catch-up.
  'self-tests': { cron: '5-59/10 * * * *', run: (deps, _day, context) => catchUpSelfTests(deps, context) },
};

/** Lifetime of Agenda's lock, after which another worker takes the job of a dead one. Steps are idempotent: a second run does no harm. */
const LOCK_MS = 45_000;
const LOCK_RENEWAL_MS = 10_000;

export interface Schedule {
  /** Queues an item for any worker; at most one item of a subject is queued or running. */
  enqueue(name: string, item: QueueItem): Promise<void>;
  /** Agenda's statistics of this process for the operator; null while its clock disagrees with the database's. */
  getRunningStats(fullDetails: boolean): Promise<object | null>;
  listNextRuns(): Promise<{ job: string; nextRunAt: Date | null }[]>;
  drain(timeoutMs: number): Promise<void>;
}

/** A job that is not a step of the day; its cron line is in UTC. */
export interface RecurringJob {
  cron: string;
  run(): Promise<void>;
}

export interface ScheduleOptions {
  db: Db;
  deps: PipelineDeps;
  jobs?: Record<string, RecurringJob>;
  queues?: Record<string, QueueHandler>;
  log: Log;
  now(): Date;
  clockCheckIntervalMs?: number;
  /** Of the first commands; default: each once. */
  retry?<T>(work: () => Promise<T>): Promise<T>;
}

const CLOCK_CHECK_INTERVAL_MS = 15_000;

export async function startSchedule(options: ScheduleOptions): Promise<Schedule> {
  const { db, deps, jobs = {}, queues = {}, log, now, clockCheckIntervalMs = CLOCK_CHECK_INTERVAL_MS, retry = runOnce } = options;
  // Items queued by this process start at once, without waiting for the next poll.
  const channel = new InMemoryNotificationChannel();
  const agenda = new Agenda({
    backend: await retry(() => connectBackend(db)),
    processEvery: '5 seconds',
    defaultLockLifetime: LOCK_MS,
    notificationChannel: channel,
  });
  agenda.on('error', (error: Error) => log.error({ err: error }, 'job queue'));
  const all = { ...buildStepJobs(deps, now), ...jobs };
  for (const [name, { run }] of Object.entries(all)) {
    agenda.define(name, async (job) => {
      const stopRenewing = renewLock(job, log);
      const runLogged = () =>
        run().catch((error: unknown) => {
          log.error({ err: error, job: name }, 'job failed');
          throw error;
        });
      await inJobTrace(job, runLogged).finally(stopRenewing);
    });
  }
  const queue = new JobQueue({ agenda, channel, db, log });
  for (const [name, job] of Object.entries(queues)) queue.define(name, job);
  const crons = new Map(Object.entries(all).map(([name, { cron }]) => [name, cron]));
  const clock = new ScheduleClock({ agenda, db, crons, time: deps.time, intervalMs: clockCheckIntervalMs, log });
  await clock.start(retry);
  return {
    enqueue: (name, item) => queue.enqueue(name, item),
    getRunningStats: async (fullDetails) => (clock.isRunning ? agenda.getRunningStats(fullDetails) : null),
    listNextRuns: () => listNextRuns(agenda),
    drain: async (timeoutMs) => {
      await clock.stop();
      await drainAgenda(agenda, timeoutMs);
    },
  };
}

const runOnce: NonNullable<ScheduleOptions['retry']> = (work) => work();

const IDLE_POLL_MS = 20;

/** A job that runs for longer than a lock keeps it. */
function renewLock(job: Job, log: Log): () => void {
  const renew = () =>
    job.touch().catch((error: unknown) => log.warn({ err: error, job: job.attrs.name }, 'the lock of a job was not renewed'));
  const timer = setInterval(() => void renew(), LOCK_RENEWAL_MS);
  return () => clearInterval(timer);
}

/** Agenda misses the end of a job that removes itself and would wait for the full timeout: the drain ends when no job runs. */
async function drainAgenda(agenda: Agenda, timeoutMs: number): Promise<void> {
  const idle = new AbortController();
  const poll = async () => {
    const { runningJobs } = await agenda.getRunningStats(false);
    if (runningJobs === 0) idle.abort();
  };
  // When polling fails, the drain falls back to the full timeout.
  const timer = setInterval(() => void poll().catch(() => undefined), IDLE_POLL_MS);
  await agenda.drain({ timeout: timeoutMs, signal: idle.signal });
  clearInterval(timer);
}

/** Agenda on the jobs collection without running jobs, to read and change the queue from any process. */
export async function openJobsAgenda(db: Db): Promise<Agenda> {
  const agenda = new Agenda({ backend: await connectBackend(db) });
  await agenda.ready;
  return agenda;
}

async function connectBackend(db: Db): Promise<MongoBackend> {
  const backend = new MongoBackend({ mongo: db, collection: JOBS_COLLECTION });
  await backend.connect();
  // Agenda connects again in its constructor, where a rejection would be unhandled.
  backend.connect = async () => undefined;
  return backend;
}

function buildStepJobs(deps: PipelineDeps, now: () => Date): Record<string, RecurringJob> {
  const bind = ({ cron, run }: StepJob): RecurringJob => ({
    cron,
    async run() {
      const context = createLiveContext(deps, now());
      await run(deps, toDay(context.now.getTime()), context);
    },
  });
  return Object.fromEntries(Object.entries(STEP_JOBS).map(([name, job]) => [name, bind(job)]));
}

async function listNextRuns(agenda: Agenda): Promise<{ job: string; nextRunAt: Date | null }[]> {
  const { jobs } = await agenda.queryJobs({});
  // Runs that the operator started out of turn stay in the collection, without a repeat interval.
  const recurring = jobs.filter(({ repeatInterval }) => repeatInterval !== undefined);
  return recurring.map(({ name, nextRunAt }) => ({ job: name, nextRunAt: nextRunAt ?? null }));
}
