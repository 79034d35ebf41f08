import { OracleError } from '../errors.ts';

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
