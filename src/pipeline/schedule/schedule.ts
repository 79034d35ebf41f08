import { MongoBackend } from '@agendajs/mongo-backend';
import { Agenda, InMemoryNotificationChannel } from 'agenda';
import type { Db } from 'mongodb';
import { type Day, toDay } from '../../forecast/day.ts';
import type { Log } from '../../platform/log.ts';
import { BACKTEST_TIME, DIAGNOSTICS_TIME } from '../../record/self-test/due-times.ts';
import { catchUp } from '../catch-up.ts';
import { createLiveContext, type PipelineDeps, type StepContext } from '../deps.ts';
import { catchUpSelfTests } from '../self-test/catch-up.ts';
import { runOutcomeCheck, runStep } from '../step-registry.ts';
import { JobQueue, type QueueHandler, type QueueItem } from './job-queue.ts';
import { JOBS_COLLECTION } from './queue-indexes.ts';
import { ScheduleClock } from './schedule-clock.ts';
import { OUTCOME_CHECK_HOURS, STEP_TIMES, WEEKLY_TIME } from './step-times.ts';

type StepJob = (deps: PipelineDeps, day: Day, context: StepContext) => Promise<unknown>;

const toDailyCron = ({ hours, minutes }: { hours: number; minutes: number }) => `${minutes} ${hours} * * *`;

/** The day in UTC, as cron lines. Catch-up takes over whatever an earlier run had to leave waiting. */
export const STEP_JOBS: Record<string, { cron: string; run: StepJob }> = {
  signal: { cron: toDailyCron(STEP_TIMES.signal), run: (deps, day, context) => runStep(deps, 'signal', day, context) },
  attest: { cron: toDailyCron(STEP_TIMES.attest), run: (deps, day, context) => runStep(deps, 'attest', day, context) },
  wager: { cron: toDailyCron(STEP_TIMES.wager), run: (deps, day, context) => runStep(deps, 'wager', day, context) },
  brief: { cron: toDailyCron(STEP_TIMES.brief), run: (deps, day, context) => runStep(deps, 'brief', day, context) },
  'weekly-report': {
    cron: `${WEEKLY_TIME.minutes} ${WEEKLY_TIME.hours} * * 1`,
    run: (deps, day, context) => runStep(deps, 'weekly-report', day, context),
  },
  backtest: { cron: toDailyCron(BACKTEST_TIME), run: (deps, day, context) => runStep(deps, 'backtest', day, context) },
  diagnostics: {
    cron: `${DIAGNOSTICS_TIME.minutes} ${DIAGNOSTICS_TIME.hours} * * 0`,
    run: (deps, day, context) => runStep(deps, 'diagnostics', day, context),
  },
  'outcome-check': { cron: `0 */${OUTCOME_CHECK_HOURS} * * *`, run: (deps, _day, context) => runOutcomeCheck(deps, context) },
  'catch-up': { cron: '*/5 * * * *', run: (deps, _day, context) => catchUp(deps, context) },
  // A job of its own: it takes long, and holds up nothing.
  'self-tests': { cron: '5-59/10 * * * *', run: (deps, _day, context) => catchUpSelfTests(deps, context) },
};

/** How long a run keeps others from starting beside it; every step may run twice all the same. */
const LOCK_MS = 5 * 60_000;

export interface Schedule {
  /** Queues work of a kind, for whichever worker; once a subject, as long as that is queued or under way. */
  enqueue(name: string, item: QueueItem): Promise<void>;
  /** What runs and waits in this process, for the operator; null while its clock disagrees with the database's. */
  getRunningStats(fullDetails: boolean): Promise<object | null>;
  /** When each job runs next. */
  listNextRuns(): Promise<{ job: string; nextRunAt: Date | null }[]>;
  /** Takes no new jobs and waits for those under way. */
  drain(timeoutMs: number): Promise<void>;
}

/** A job that is no step of the day. */
export interface RecurringJob {
  /** In UTC. */
  cron: string;
  run(): Promise<void>;
}

export interface ScheduleOptions {
  db: Db;
  deps: PipelineDeps;
  /** Further jobs by name. */
  jobs?: Record<string, RecurringJob>;
  /** Kinds of work that are queued, by name. */
  queues?: Record<string, QueueHandler>;
  log: Log;
  now(): Date;
  /** Milliseconds between two comparisons of the clocks; 15 s. */
  clockCheckIntervalMs?: number;
}

const CLOCK_CHECK_INTERVAL_MS = 15_000;

/** Starts the jobs on the shared database once the clocks agree; any number of workers may do so. */
export async function startSchedule(options: ScheduleOptions): Promise<Schedule> {
  const { db, deps, jobs = {}, queues = {}, log, now, clockCheckIntervalMs = CLOCK_CHECK_INTERVAL_MS } = options;
  // What this process queues it begins at once, not when it looks next.
  const channel = new InMemoryNotificationChannel();
  const agenda = new Agenda({
    backend: new MongoBackend({ mongo: db, collection: JOBS_COLLECTION }),
    processEvery: '5 seconds',
    defaultLockLifetime: LOCK_MS,
    notificationChannel: channel,
  });
  agenda.on('error', (error: Error) => log.error({ err: error }, 'job queue'));
  const all = { ...buildStepJobs(deps, now), ...jobs };
  for (const [name, { run }] of Object.entries(all)) {
    agenda.define(name, async () => {
      await run().catch((error: unknown) => {
        log.error({ err: error, job: name }, 'job failed');
        throw error;
      });
    });
  }
  const queue = new JobQueue({ agenda, channel, db, log });
  for (const [name, job] of Object.entries(queues)) queue.define(name, job);
  const crons = new Map(Object.entries(all).map(([name, { cron }]) => [name, cron]));
  const clock = new ScheduleClock({ agenda, db, crons, time: deps.time, intervalMs: clockCheckIntervalMs, log });
  await clock.start();
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

const IDLE_POLL_MS = 20;

/** Agenda overlooks the end of a job that is removed when it ends, and would wait for the whole time. */
async function drainAgenda(agenda: Agenda, timeoutMs: number): Promise<void> {
  const idle = new AbortController();
  const poll = async () => {
    const { runningJobs } = await agenda.getRunningStats(false);
    if (runningJobs === 0) idle.abort();
  };
  // Who cannot look waits for the whole time.
  const timer = setInterval(() => void poll().catch(() => undefined), IDLE_POLL_MS);
  await agenda.drain({ timeout: timeoutMs, signal: idle.signal });
  clearInterval(timer);
}

/** The queue of jobs without running any: to be looked at, and changed, from whichever process. */
export async function openJobsAgenda(db: Db): Promise<Agenda> {
  const backend = new MongoBackend({ mongo: db, collection: JOBS_COLLECTION });
  await backend.connect();
  // It connects by itself, and nobody could catch what fails there.
  backend.connect = async () => undefined;
  const agenda = new Agenda({ backend });
  await agenda.ready;
  return agenda;
}

function buildStepJobs(deps: PipelineDeps, now: () => Date): Record<string, RecurringJob> {
  const bound = Object.entries(STEP_JOBS).map(([name, { cron, run }]) => {
    const step = async () => {
      const context = createLiveContext(deps, now());
      await run(deps, toDay(context.now.getTime()), context);
    };
    return [name, { cron, run: step }];
  });
  return Object.fromEntries(bound);
}

async function listNextRuns(agenda: Agenda): Promise<{ job: string; nextRunAt: Date | null }[]> {
  const { jobs } = await agenda.queryJobs({});
  // What the operator has run out of turn stays in the queue, done.
  const recurring = jobs.filter(({ repeatInterval }) => repeatInterval !== undefined);
  return recurring.map(({ name, nextRunAt }) => ({ job: name, nextRunAt: nextRunAt ?? null }));
}
