import type { Agenda, Job, NotificationChannel } from 'agenda';
import type { Collection, Db } from 'mongodb';
import type { Log } from '../../platform/log.ts';
import { isDuplicateKey } from '../../platform/mongo.ts';
import { inJobTrace, type JobCause, toJobCause } from './job-trace.ts';
import { JOBS_COLLECTION, QUEUED_INDEX_KEY } from './queue-indexes.ts';

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

export interface JobQueueDeps {
  agenda: Agenda;
  /** Agenda's notification channel: a published job starts at once instead of at the next poll. */
  channel: NotificationChannel;
  db: Db;
  log: Log;
}

/** Items in Agenda's collection; a unique index keeps one per subject. */
export class JobQueue {
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
