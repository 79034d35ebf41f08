import type { Agenda, Job, NotificationChannel } from 'agenda';
import type { Collection, Db } from 'mongodb';
import type { Log } from '../../platform/log.ts';
import { isDuplicateKey } from '../../platform/mongo.ts';
import { JOBS_COLLECTION, QUEUED_INDEX_KEY } from './queue-indexes.ts';

/** Work that is queued item by item. An item that fails is not tried again by itself. */
export interface QueueHandler {
  /** Items under way at once in this process. */
  concurrency: number;
  /** After this time without an end another worker takes the item over. */
  lockMs: number;
  run(item: QueueItem): Promise<void>;
  /** Called when an item has left the queue: what was to be queued while it was under way was not. */
  onEnded?(item: QueueItem): Promise<void>;
}

export interface QueueItem {
  /** What the work is about, by its id. */
  subject: string;
  at: Date;
}

/** As it is kept with the job. */
type QueuedItem = QueueItem & { queued: string };

export interface JobQueueDeps {
  agenda: Agenda;
  /** Agenda's own: what is told there it begins at once, not when it looks next. */
  channel: NotificationChannel;
  db: Db;
  log: Log;
}

/** Items in Agenda's collection, at most one of a subject. */
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

  /** Says who does the items of a kind. */
  define(name: string, job: QueueHandler): void {
    const { concurrency, lockMs } = job;
    this.#agenda.define<QueuedItem>(name, (agendaJob) => this.#process(name, job, agendaJob), {
      concurrency,
      lockLimit: concurrency,
      lockLifetime: lockMs,
    });
    // Agenda takes the next one when it looks; the place of this one is free in a moment.
    this.#agenda.on(`complete:${name}`, (done: Job) => setImmediate(() => void this.#wake(name, done)));
  }

  /**
   * Queues an item, unless one of its subject is queued or under way already: that is brought forward where it was to begin later,
   * and left alone where it is under way.
   */
  async enqueue(name: string, { subject, at }: QueueItem): Promise<void> {
    const job = this.#agenda.create<QueuedItem>(name, { subject, at, queued: `${name}:${subject}` }).schedule(at);
    try {
      await job.save();
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
      await this.#bringForward(`${name}:${subject}`, at);
      await this.#wake(name, job);
    }
  }

  /** Without a time it is what was done, and could not be removed. */
  async #bringForward(queued: string, at: Date): Promise<void> {
    const waiting = { 'data.queued': queued, lockedAt: null, $or: [{ nextRunAt: null }, { nextRunAt: { $gt: at } }] };
    await this.#jobs.updateOne(waiting, { $set: { nextRunAt: at } }, { hint: QUEUED_INDEX_KEY });
  }

  async #process(name: string, { run, onEnded }: QueueHandler, agendaJob: Job<QueuedItem>): Promise<void> {
    const { data } = agendaJob.attrs;
    const fail = (err: unknown) => this.#log.error({ err, job: name, subject: data.subject }, 'queued job failed');
    await run(data).catch(fail);
    try {
      // Not left to Agenda, which does not tell when it has.
      await agendaJob.remove();
      await onEnded?.(data);
    } catch (error) {
      fail(error);
    }
  }

  /** Has Agenda look for what it could begin. */
  async #wake(jobName: string, { attrs }: Job): Promise<void> {
    if (this.#channel.state !== 'connected') return;
    const now = new Date();
    const notification = { jobId: attrs._id!, jobName, nextRunAt: now, priority: 0, timestamp: now };
    // It looks by itself within seconds.
    await this.#channel
      .publish(notification)
      .catch((err: unknown) => this.#log.warn({ err, job: jobName }, 'the job queue could not be woken'));
  }
}
