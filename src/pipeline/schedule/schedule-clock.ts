import type { Agenda } from 'agenda';
import type { Collection, Db } from 'mongodb';
import type { Log } from '../../platform/log.ts';
import { MAX_CLOCK_SKEW_MS, type TrustedTime } from '../../platform/time/trusted-time.ts';
import { JOBS_COLLECTION } from './queue-indexes.ts';

export interface ScheduleClockDeps {
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
export class ScheduleClock {
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
