import { OracleError } from '../errors.ts';

export interface SemaphoreLimits {
  /** At once. */
  maxConcurrent: number;
  /** Beyond those. */
  maxQueued: number;
  /** Longest wait, in milliseconds; unset: as long as it takes. */
  maxWaitMs?: number;
}

/** So many at once; those beyond wait, and there is an end to that too. */
export class Semaphore {
  readonly #most: Readonly<SemaphoreLimits>;
  #underWay = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(most: Readonly<SemaphoreLimits>) {
    this.#most = most;
  }

  /** Nobody is at work, and nobody waits. */
  get isIdle(): boolean {
    return this.#underWay === 0;
  }

  /** @throws OracleError RATE_LIMITED when too many wait already, or for too long; nothing was done then */
  async run<T>(work: () => Promise<T>): Promise<T> {
    await this.#turn();
    try {
      return await work();
    } finally {
      // A turn is handed on, so that nobody can come in between.
      const next = this.#waiting.shift();
      if (next === undefined) this.#underWay -= 1;
      else next();
    }
  }

  async #turn(): Promise<void> {
    const { maxConcurrent: underWay, maxQueued: waiting, maxWaitMs: waitMs } = this.#most;
    if (this.#underWay < underWay) {
      this.#underWay += 1;
      return;
    }
    if (this.#waiting.length >= waiting) throw queueFullError();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#waiting.push(resolve);
    const timer = waitMs === undefined ? undefined : setTimeout(() => this.#giveUp(resolve, reject), waitMs);
    await promise.finally(() => clearTimeout(timer));
  }

  #giveUp(go: () => void, reject: (error: OracleError) => void): void {
    const place = this.#waiting.indexOf(go);
    if (place !== -1) this.#waiting.splice(place, 1);
    reject(queueFullError());
  }
}

function queueFullError(): OracleError {
  return new OracleError('RATE_LIMITED', 'Too many are waiting for their turn', { retryAfterSeconds: 5 });
}
