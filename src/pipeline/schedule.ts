import { MongoBackend } from '@agendajs/mongo-backend';
import { Agenda, type Job } from 'agenda';
import type { Collection, Db } from 'mongodb';
import { type Day, toDay } from '../forecast/day.ts';
import type { Log } from '../platform/log.ts';
import { MAX_CLOCK_SKEW_MS, type TrustedTime } from '../platform/time.ts';
import { inEntry } from '../platform/tracing.ts';
import { createLiveContext, type PipelineContext, type StepContext } from './forecaster.ts';
import { catchUp, catchUpSelfTests, runOutcomeCheck, runStep } from './pipeline.ts';
import { JOBS_COLLECTION, TIMETABLE, toCron } from './timetable.ts';

interface StepJob {
  cron: string;
  run(deps: PipelineContext, day: Day, context: StepContext): Promise<unknown>;
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

interface ScheduleOptions {
  db: Db;
  deps: PipelineContext;
  jobs?: Record<string, RecurringJob>;
  log: Log;
  now(): Date;
  clockCheckIntervalMs?: number;
  /** Of the first commands; default: each once. */
  retry?<T>(work: () => Promise<T>): Promise<T>;
}

const CLOCK_CHECK_INTERVAL_MS = 15_000;

export async function startSchedule(options: ScheduleOptions): Promise<Schedule> {
  const { db, deps, jobs = {}, log, now, clockCheckIntervalMs = CLOCK_CHECK_INTERVAL_MS, retry = runOnce } = options;
  const agenda = new Agenda({
    backend: await retry(() => connectBackend(db)),
    processEvery: '5 seconds',
    defaultLockLifetime: LOCK_MS,
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
  const crons = new Map(Object.entries(all).map(([name, { cron }]) => [name, cron]));
  const clock = new ScheduleClock({ agenda, db, crons, time: deps.time, intervalMs: clockCheckIntervalMs, log });
  await clock.start(retry);
  return {
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

function buildStepJobs(deps: PipelineContext, now: () => Date): Record<string, RecurringJob> {
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

/** Runs a job in a trace of its own; its lines of the log have its id. */
function inJobTrace<T>({ attrs: { name, _id } }: Job<unknown>, run: () => Promise<T>): Promise<T> {
  const fields = { jobId: _id === undefined ? name : String(_id) };
  return inEntry({ name: `job ${name}`, kind: 'consumer', parent: null, fields }, run);
}

interface ScheduleClockDeps {
  agenda: Agenda;
  db: Db;
  crons: ReadonlyMap<string, string>;
  time: Pick<TrustedTime, 'findDisagreement'>;
  intervalMs: number;
  log: Log;
}

interface StoredJob {
  name: string;
  nextRunAt?: Date | null;
  lockedAt: Date | null;
  disabled?: boolean;
}

const CRON_OPTIONS = { timezone: 'UTC', skipImmediate: true } as const;

/** Agenda locks by the local clock: one that runs ahead takes over locks and postpones jobs, so it runs only while the clocks agree. */
class ScheduleClock {
  readonly #deps: ScheduleClockDeps;
  readonly #jobs: Collection<StoredJob>;
  #timer: NodeJS.Timeout | undefined;
  #isRunning = false;
  #checking: Promise<void> | undefined;
  #isStopped = false;

  constructor(deps: ScheduleClockDeps) {
    this.#deps = deps;
    this.#jobs = deps.db.collection(JOBS_COLLECTION);
  }

  get isRunning(): boolean {
    return this.#isRunning;
  }

  /** Starts the jobs, or waits in the background until the clocks agree. @throws what the first comparison throws, after its retries */
  async start(retry: (work: () => Promise<void>) => Promise<void> = (work) => work()): Promise<void> {
    await retry(() => this.#check());
    const check = () => {
      this.#checking ??= this.#check()
        .catch((err: unknown) => this.#deps.log.warn({ err }, 'comparing the clocks failed'))
        .finally(() => {
          this.#checking = undefined;
        });
    };
    this.#timer = setInterval(check, this.#deps.intervalMs).unref();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    clearInterval(this.#timer);
    await this.#checking;
  }

  async #check(): Promise<void> {
    const disagreement = await this.#deps.time.findDisagreement();
    if (this.#isStopped) return;
    if (disagreement !== null) await this.#pauseJobs(disagreement);
    else if (this.#isRunning) await this.#repairNextRuns();
    else await this.#startJobs();
  }

  async #startJobs(): Promise<void> {
    const { agenda, crons } = this.#deps;
    await this.#releaseFutureLocks();
    await agenda.start();
    for (const [name, cron] of crons) await agenda.every(cron, name, {}, CRON_OPTIONS);
    this.#isRunning = true;
  }

  async #pauseJobs(reason: string): Promise<void> {
    if (!this.#isRunning) return;
    this.#isRunning = false;
    this.#deps.log.error({ reason }, 'jobs are paused in this process until the clocks agree');
    await this.#deps.agenda.stop(false);
  }

  async #repairNextRuns(): Promise<void> {
    const { agenda, crons, log } = this.#deps;
    await this.#releaseFutureLocks();
    const projection = { name: 1, nextRunAt: 1, disabled: 1 };
    const stored = await this.#jobs.find({ name: { $in: [...crons.keys()] } }, { projection }).toArray();
    const known = new Map(stored.map((job) => [job.name, job]));
    for (const [name, cron] of crons) {
      const { nextRunAt, disabled } = known.get(name) ?? {};
      // By an operator, who enables it again.
      if (disabled === true) continue;
      const due = agenda.create(name, {}).repeatEvery(cron, CRON_OPTIONS).attrs.nextRunAt;
      if (nextRunAt && (!due || nextRunAt.getTime() <= due.getTime() + MAX_CLOCK_SKEW_MS)) continue;
      if (nextRunAt) log.warn({ job: name, putOffUntil: nextRunAt }, 'a job was postponed by a clock that runs ahead');
      else log.warn({ job: name }, 'a job had no next run and is scheduled again');
      await agenda.every(cron, name, {}, CRON_OPTIONS);
    }
  }

  /** Compared with the database's clock: a lock dated in the future would outlive its holder. */
  async #releaseFutureLocks(): Promise<void> {
    const isFuture = { $expr: { $gt: ['$lockedAt', { $add: ['$$NOW', MAX_CLOCK_SKEW_MS] }] } };
    await this.#jobs.updateMany(isFuture, [{ $set: { lockedAt: '$$NOW' } }]);
  }
}
