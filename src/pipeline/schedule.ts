import { MongoBackend } from '@agendajs/mongo-backend';
import { Agenda, InMemoryNotificationChannel } from 'agenda';
import type { Db } from 'mongodb';
import { type Day, dayOf } from '../forecast/day.ts';
import type { Log } from '../log.ts';
import { BACKTEST_TIME, DIAGNOSTICS_TIME } from '../record/self-test/due.ts';
import { catchUp } from './catch-up.ts';
import { JobQueue, type QueuedJob, type QueueItem } from './job-queue.ts';
import { liveContext, type PipelineParts, type StepContext } from './parts.ts';
import { JOBS_COLLECTION } from './queue-indexes.ts';
import { ScheduleClock } from './schedule-clock.ts';
import { catchUpSelfTests } from './self-test/catch-up.ts';
import { runOutcomeCheck, runStep } from './steps.ts';
import { OUTCOME_CHECK_HOURS, STEP_TIMES, WEEKLY_TIME } from './times.ts';

type Job = (parts: PipelineParts, day: Day, context: StepContext) => Promise<unknown>;

const daily = ({ hours, minutes }: { hours: number; minutes: number }) => `${minutes} ${hours} * * *`;

/** The day in UTC, as cron lines. Catch-up takes over whatever an earlier run had to leave waiting. */
export const JOBS: Record<string, { cron: string; run: Job }> = {
  signal: { cron: daily(STEP_TIMES.signal), run: (parts, day, context) => runStep(parts, 'signal', day, context) },
  attest: { cron: daily(STEP_TIMES.attest), run: (parts, day, context) => runStep(parts, 'attest', day, context) },
  wager: { cron: daily(STEP_TIMES.wager), run: (parts, day, context) => runStep(parts, 'wager', day, context) },
  brief: { cron: daily(STEP_TIMES.brief), run: (parts, day, context) => runStep(parts, 'brief', day, context) },
  'weekly-report': {
    cron: `${WEEKLY_TIME.minutes} ${WEEKLY_TIME.hours} * * 1`,
    run: (parts, day, context) => runStep(parts, 'weekly-report', day, context),
  },
  backtest: { cron: daily(BACKTEST_TIME), run: (parts, day, context) => runStep(parts, 'backtest', day, context) },
  diagnostics: {
    cron: `${DIAGNOSTICS_TIME.minutes} ${DIAGNOSTICS_TIME.hours} * * 0`,
    run: (parts, day, context) => runStep(parts, 'diagnostics', day, context),
  },
  'outcome-check': { cron: `0 */${OUTCOME_CHECK_HOURS} * * *`, run: (parts, _day, context) => runOutcomeCheck(parts, context) },
  'catch-up': { cron: '*/5 * * * *', run: (parts, _day, context) => catchUp(parts, context) },
  // A job of its own: it takes long, and holds up nothing.
  'self-tests': { cron: '5-59/10 * * * *', run: (parts, _day, context) => catchUpSelfTests(parts, context) },
};

/** How long a run keeps others from starting beside it; every step may run twice all the same. */
const LOCK_MS = 5 * 60_000;

export interface Schedule {
  /** Queues work of a kind, for whichever worker; once a subject, as long as that is queued or under way. */
  enqueue(name: string, item: QueueItem): Promise<void>;
  /** What runs and waits in this process, for the operator; null while its clock disagrees with the database's. */
  running(fullDetails: boolean): Promise<object | null>;
  /** When each job runs next. */
  nextRuns(): Promise<{ job: string; nextRunAt: Date | null }[]>;
  /** Takes no new jobs and waits for those under way. */
  drain(timeoutMs: number): Promise<void>;
}

/** A job that is no step of the day. */
export interface ScheduledJob {
  /** In UTC. */
  cron: string;
  run(): Promise<void>;
}

export interface ScheduleOptions {
  db: Db;
  parts: PipelineParts;
  /** Further jobs by name. */
  jobs?: Record<string, ScheduledJob>;
  /** Kinds of work that are queued, by name. */
  queues?: Record<string, QueuedJob>;
  log: Log;
  now(): Date;
  /** Milliseconds between two comparisons of the clocks; 15 s. */
  compareClocksEveryMs?: number;
}

const COMPARE_CLOCKS_EVERY_MS = 15_000;

/** Starts the jobs on the shared database once the clocks agree; any number of workers may do so. */
export async function startSchedule(options: ScheduleOptions): Promise<Schedule> {
  const { db, parts, jobs = {}, queues = {}, log, now, compareClocksEveryMs = COMPARE_CLOCKS_EVERY_MS } = options;
  // What this process queues it begins at once, not when it looks next.
  const channel = new InMemoryNotificationChannel();
  const agenda = new Agenda({
    backend: new MongoBackend({ mongo: db, collection: JOBS_COLLECTION }),
    processEvery: '5 seconds',
    defaultLockLifetime: LOCK_MS,
    notificationChannel: channel,
  });
  agenda.on('error', (error: Error) => log.error({ err: error }, 'job queue'));
  const all = { ...stepJobs(parts, now), ...jobs };
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
  const clock = new ScheduleClock({ agenda, db, crons, time: parts.time, everyMs: compareClocksEveryMs, log });
  await clock.start();
  return {
    enqueue: (name, item) => queue.enqueue(name, item),
    running: async (fullDetails) => (clock.isRunning ? agenda.getRunningStats(fullDetails) : null),
    nextRuns: () => nextRuns(agenda),
    drain: async (timeoutMs) => {
      await clock.stop();
      await drain(agenda, timeoutMs);
    },
  };
}

const IDLE_LOOK_MS = 20;

/** Agenda overlooks the end of a job that is removed when it ends, and would wait for the whole time. */
async function drain(agenda: Agenda, timeoutMs: number): Promise<void> {
  const idle = new AbortController();
  const look = async () => {
    const { runningJobs } = await agenda.getRunningStats(false);
    if (runningJobs === 0) idle.abort();
  };
  // Who cannot look waits for the whole time.
  const timer = setInterval(() => void look().catch(() => undefined), IDLE_LOOK_MS);
  await agenda.drain({ timeout: timeoutMs, signal: idle.signal });
  clearInterval(timer);
}

/** The queue of jobs without running any: to be looked at, and changed, from whichever process. */
export async function openQueue(db: Db): Promise<Agenda> {
  const backend = new MongoBackend({ mongo: db, collection: JOBS_COLLECTION });
  await backend.connect();
  // It connects by itself, and nobody could catch what fails there.
  backend.connect = async () => undefined;
  const agenda = new Agenda({ backend });
  await agenda.ready;
  return agenda;
}

function stepJobs(parts: PipelineParts, now: () => Date): Record<string, ScheduledJob> {
  const bound = Object.entries(JOBS).map(([name, { cron, run }]) => {
    const step = async () => {
      const context = liveContext(parts, now());
      await run(parts, dayOf(context.now.getTime()), context);
    };
    return [name, { cron, run: step }];
  });
  return Object.fromEntries(bound);
}

async function nextRuns(agenda: Agenda): Promise<{ job: string; nextRunAt: Date | null }[]> {
  const { jobs } = await agenda.queryJobs({});
  // What the operator has run out of turn stays in the queue, done.
  const recurring = jobs.filter(({ repeatInterval }) => repeatInterval !== undefined);
  return recurring.map(({ name, nextRunAt }) => ({ job: name, nextRunAt: nextRunAt ?? null }));
}
