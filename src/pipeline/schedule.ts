import { MongoBackend } from '@agendajs/mongo-backend';
import { Agenda, InMemoryNotificationChannel, type Job, type NotificationChannel } from 'agenda';
import type { Collection, Db } from 'mongodb';
import { type Day, toDay } from '../forecast/day.ts';
import type { Log } from '../platform/log.ts';
import { isDuplicateKey } from '../platform/mongo.ts';
import { MAX_CLOCK_SKEW_MS, type TrustedTime } from '../platform/time.ts';
import { formatTraceparent, getActiveTrace, inEntry, parseTraceparent } from '../platform/tracing.ts';
import { createLiveContext, type PipelineContext, type StepContext } from './forecaster.ts';
import { catchUp, catchUpSelfTests, runOutcomeCheck, runStep } from './pipeline.ts';
import { JOBS_COLLECTION, QUEUED_INDEX_KEY, TIMETABLE, toCron } from './timetable.ts';

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

interface ScheduleOptions {
  db: Db;
  deps: PipelineContext;
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

/** Handler of queued items. A failed item is not retried. */
export interface QueueHandler {
  concurrency: number;
  /** Lifetime of the lock; after it another worker takes the item. */
  lockMs: number;
  run(item: QueueItem): Promise<void>;
  /** Called after the item left the queue: enqueueing its subject while it ran had no effect. */
  onEnded?(item: QueueItem): Promise<void>;
}

export interface QueueItem {
  subject: string;
  at: Date;
}

type QueuedItem = QueueItem & JobCause & { queued: string };

interface JobQueueDeps {
  agenda: Agenda;
  /** Agenda's notification channel: a published job starts at once instead of at the next poll. */
  channel: NotificationChannel;
  db: Db;
  log: Log;
}

/** Items in Agenda's collection; a unique index keeps one per subject. */
class JobQueue {
  readonly #agenda: Agenda;
  readonly #channel: NotificationChannel;
  readonly #jobs: Collection<{ data: QueuedItem; lockedAt: Date | null; nextRunAt: Date | null }>;
  readonly #log: Log;

  constructor({ agenda, channel, db, log }: JobQueueDeps) {
    this.#agenda = agenda;
    this.#channel = channel;
    this.#jobs = db.collection(JOBS_COLLECTION);
    this.#log = log;
  }

  define(name: string, job: QueueHandler): void {
    const { concurrency, lockMs } = job;
    this.#agenda.define<QueuedItem>(name, (agendaJob) => inJobTrace(agendaJob, () => this.#process(name, job, agendaJob)), {
      concurrency,
      lockLimit: concurrency,
      lockLifetime: lockMs,
    });
    // Agenda starts the next item at its next poll; the free slot is announced at once.
    this.#agenda.on(`complete:${name}`, (done: Job) => setImmediate(() => void this.#wake(name, done)));
  }

  /** Queues an item. If its subject is already queued, the earlier of both times applies; if it is running, nothing changes. */
  async enqueue(name: string, { subject, at }: QueueItem): Promise<void> {
    const job = this.#agenda.create<QueuedItem>(name, { subject, at, queued: `${name}:${subject}`, ...toJobCause() }).schedule(at);
    try {
      await job.save();
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
      await this.#bringForward(`${name}:${subject}`, at);
      await this.#wake(name, job);
    }
  }

  /** An item without `nextRunAt` is done, but its removal failed. */
  async #bringForward(queued: string, at: Date): Promise<void> {
    const waiting = { 'data.queued': queued, lockedAt: null, $or: [{ nextRunAt: null }, { nextRunAt: { $gt: at } }] };
    await this.#jobs.updateOne(waiting, { $set: { nextRunAt: at } }, { hint: QUEUED_INDEX_KEY });
  }

  async #process(name: string, { run, onEnded }: QueueHandler, agendaJob: Job<QueuedItem>): Promise<void> {
    const { data } = agendaJob.attrs;
    const fail = (err: unknown) => this.#log.error({ err, job: name, subject: data.subject }, 'queued job failed');
    await run(data).catch(fail);
    try {
      // Removed here, because Agenda emits no event after its own removal.
      await agendaJob.remove();
      await onEnded?.(data);
    } catch (error) {
      fail(error);
    }
  }

  async #wake(jobName: string, { attrs }: Job): Promise<void> {
    if (this.#channel.state !== 'connected') return;
    const now = new Date();
    const notification = { jobId: attrs._id!, jobName, nextRunAt: now, priority: 0, timestamp: now };
    // On failure Agenda's regular poll finds the item within seconds.
    await this.#channel.publish(notification).catch((err: unknown) => this.#log.warn({ err, job: jobName }, 'waking the job queue failed'));
  }
}

/** Members of a job's data that name the request that has queued it. */
interface JobCause {
  traceparent?: string;
  requestId?: string;
}

/** Empty outside of requests: a job that queues the next one would never end its trace. */
function toJobCause(): JobCause {
  const trace = getActiveTrace();
  if (trace?.requestId === undefined || trace.jobId !== undefined) return {};
  return { traceparent: formatTraceparent(trace), requestId: trace.requestId };
}

/** Runs a job in the trace of the request that has queued it, else in a new one; its lines of the log have its id. */
function inJobTrace<T>({ attrs: { name, _id, data } }: Job<unknown>, run: () => Promise<T>): Promise<T> {
  const { traceparent, requestId } = (data ?? {}) as JobCause;
  const fields = { jobId: _id === undefined ? name : String(_id), requestId };
  return inEntry({ name: `job ${name}`, kind: 'consumer', parent: parseTraceparent(traceparent), fields }, run);
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
