import { LRUCache } from 'lru-cache';
import type { Collection, Db } from 'mongodb';
import { OracleError } from '../errors.ts';
import { isDatabaseUnreachable } from './mongo.ts';
import { repeatIfUncertain } from './retry.ts';

export interface CacheStatistics {
  name: string;
  hits: number;
  misses: number;
  /** Share of reads served from memory; null before the first read. */
  hitRate: number | null;
  entries: number;
}

interface Cache<Value> {
  /** Returns the cached value of `key`, or the result of `load`. Concurrent readers of a key share one load. */
  get(key: string | number, load: () => Promise<Value>): Promise<Value>;
  statistics(): CacheStatistics;
}

/** Least-recently-used cache of at most `maxEntries` values. A rejected load is evicted, so the next read retries. */
export function createCache<Value>(name: string, maxEntries: number): Cache<Value> {
  const entries = new LRUCache<string | number, Promise<Value>>({ max: maxEntries });
  let hits = 0;
  let misses = 0;
  return {
    get(key, load) {
      const cached = entries.get(key);
      if (cached !== undefined) {
        hits++;
        return cached;
      }
      misses++;
      const value = load();
      entries.set(key, value);
      value.catch(() => {
        if (entries.peek(key) === value) entries.delete(key);
      });
      return value;
    },
    statistics: () => ({ name, hits, misses, hitRate: hits + misses > 0 ? hits / (hits + misses) : null, entries: entries.size }),
  };
}

export interface SemaphoreLimits {
  maxConcurrent: number;
  maxQueued: number;
  /** Longest wait in the queue, in milliseconds; default: unlimited. */
  maxWaitMs?: number;
}

export class Semaphore {
  readonly #limits: Readonly<SemaphoreLimits>;
  readonly #queue: (() => void)[] = [];
  #running = 0;

  constructor(limits: Readonly<SemaphoreLimits>) {
    this.#limits = limits;
  }

  get isIdle(): boolean {
    return this.#running === 0;
  }

  /** @throws OracleError RATE_LIMITED when the queue is full or the wait too long; `work` was not called then */
  async run<T>(work: () => Promise<T>): Promise<T> {
    await this.#acquire();
    try {
      return await work();
    } finally {
      // The permit passes to the next in the queue: a new caller cannot overtake it.
      const next = this.#queue.shift();
      if (next === undefined) this.#running -= 1;
      else next();
    }
  }

  async #acquire(): Promise<void> {
    const { maxConcurrent, maxQueued, maxWaitMs } = this.#limits;
    if (this.#running < maxConcurrent) {
      this.#running += 1;
      return;
    }
    if (this.#queue.length >= maxQueued) throw queueFullError();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#queue.push(resolve);
    const leave = () => {
      const place = this.#queue.indexOf(resolve);
      if (place !== -1) this.#queue.splice(place, 1);
      reject(queueFullError());
    };
    const timer = maxWaitMs === undefined ? undefined : setTimeout(leave, maxWaitMs);
    await promise.finally(() => clearTimeout(timer));
  }
}

function queueFullError(): OracleError {
  return new OracleError('RATE_LIMITED', 'Too many are waiting for their turn', { retryAfterSeconds: 5 });
}

interface RevisionDoc {
  _id: string;
  revision?: number;
}

/** A counter in the database that advances after every write that it stands for: what was computed at the current one is up to date. */
export class Revision {
  /** Concurrent callers share one read that starts after their call. */
  readonly read: () => Promise<number>;
  readonly #collection: Collection<RevisionDoc>;
  readonly #_id: string;
  /** A write may have changed what the counter stands for, and the counter could not be advanced. */
  #isBehind = false;

  constructor(db: Db, { collection, _id }: { collection: string; _id: string }) {
    this.#collection = db.collection(collection);
    this.#_id = _id;
    const read = shareReads(async (id: string) => {
      if (this.#isBehind) await this.advance();
      return (await this.#collection.findOne({ _id: id }))?.revision ?? 0;
    });
    this.read = () => read(_id);
  }

  async advance(): Promise<void> {
    this.#isBehind = true;
    // Twice is once too often at most, which costs a computation.
    await repeatIfUncertain(() => this.#collection.updateOne({ _id: this.#_id }, { $inc: { revision: 1 } }, { upsert: true }));
    this.#isBehind = false;
  }

  /** Also after a write whose reply was lost: its repetition may find it done, and would not advance. */
  async advanceAfter<T>(write: Promise<T>): Promise<T> {
    try {
      const result = await write;
      await this.advance();
      return result;
    } catch (error) {
      if (isDatabaseUnreachable(error)) this.#isBehind = true;
      throw error;
    }
  }
}

type ReadFunction<Key, Value> = (key: Key) => Promise<Value>;

interface SharedRead<Value> {
  /** Resolves when the read in flight ends, or is no longer waited for. */
  ended: Promise<void>;
  /** The following read, shared by all callers that arrive meanwhile. */
  next?: Promise<Value>;
}

/** A database that does not respond to one read delays the next one by at most this. */
const MAX_SHARED_MS = 1_000;

/** No caller gets a value read before its call: it waits for the next read, which begins when the first ends or after `maxSharedMs`. */
export function shareReads<Key, Value>(read: ReadFunction<Key, Value>, maxSharedMs = MAX_SHARED_MS): ReadFunction<Key, Value> {
  const sharedByKey = new Map<Key, SharedRead<Value>>();

  async function startRead(key: Key): Promise<Value> {
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    const shared: SharedRead<Value> = { ended };
    sharedByKey.set(key, shared);
    const timer = setTimeout(end, maxSharedMs);
    try {
      return await read(key);
    } finally {
      clearTimeout(timer);
      if (shared.next === undefined) sharedByKey.delete(key);
      end();
    }
  }

  return (key) => {
    const shared = sharedByKey.get(key);
    if (shared === undefined) return startRead(key);
    shared.next ??= shared.ended.then(() => startRead(key));
    return shared.next;
  };
}

/** A sleep that can be woken; a wake before the sleep is not lost. */
export class WakeSignal {
  #woken = Promise.withResolvers<void>();
  readonly #signal: AbortSignal;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
    signal.addEventListener('abort', () => this.wake(), { once: true });
  }

  wake(): void {
    this.#woken.resolve();
  }

  async sleep(ms: number): Promise<void> {
    if (this.#signal.aborted) return;
    const timer = setTimeout(() => this.wake(), ms);
    await this.#woken.promise;
    clearTimeout(timer);
    this.#woken = Promise.withResolvers<void>();
  }
}

/** Waits for all, so that nothing goes on after an error. @throws the first error in the order of `work` */
export async function runAll(work: readonly Promise<void>[]): Promise<void> {
  const outcomes = await Promise.allSettled(work);
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
}
