import { LRUCache } from 'lru-cache';
import PQueue from 'p-queue';
import { OracleError } from '../errors.ts';

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
  readonly #queue: PQueue;

  constructor(limits: Readonly<SemaphoreLimits>) {
    this.#limits = limits;
    this.#queue = new PQueue({ concurrency: limits.maxConcurrent });
  }

  get isIdle(): boolean {
    return this.#queue.pending === 0;
  }

  /** @throws OracleError RATE_LIMITED when the queue is full or the wait too long; `work` was not called then */
  async run<T>(work: () => Promise<T>): Promise<T> {
    const { maxConcurrent, maxQueued, maxWaitMs } = this.#limits;
    if (this.#queue.pending >= maxConcurrent && this.#queue.size >= maxQueued) throw queueFullError();
    const wait = new AbortController();
    const timer = maxWaitMs === undefined ? undefined : setTimeout(() => wait.abort(queueFullError()), maxWaitMs);
    const begin = () => {
      clearTimeout(timer);
      return work();
    };
    return await this.#queue.add(begin, { signal: wait.signal });
  }
}

function queueFullError(): OracleError {
  return new OracleError('RATE_LIMITED', 'Too many are waiting for their turn', { retryAfterSeconds: 5 });
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
