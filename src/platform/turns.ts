import { OracleError } from '../errors.ts';

export interface TurnLimits {
  /** At once. */
  underWay: number;
  /** Beyond those. */
  waiting: number;
  /** Longest wait, in milliseconds; unset: as long as it takes. */
  waitMs?: number;
}

/** So many at once; those beyond wait, and there is an end to that too. */
export class Turns {
  readonly #most: Readonly<TurnLimits>;
  #underWay = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(most: Readonly<TurnLimits>) {
    this.#most = most;
  }

  /** Nobody is at work, and nobody waits. */
  get idle(): boolean {
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
    const { underWay, waiting, waitMs } = this.#most;
    if (this.#underWay < underWay) {
      this.#underWay += 1;
      return;
    }
    if (this.#waiting.length >= waiting) throw tooMany();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#waiting.push(resolve);
    const timer = waitMs === undefined ? undefined : setTimeout(() => this.#giveUp(resolve, reject), waitMs);
    await promise.finally(() => clearTimeout(timer));
  }

  #giveUp(go: () => void, reject: (error: OracleError) => void): void {
    const place = this.#waiting.indexOf(go);
    if (place !== -1) this.#waiting.splice(place, 1);
    reject(tooMany());
  }
}

function tooMany(): OracleError {
  return new OracleError('RATE_LIMITED', 'Too many are waiting for their turn', { retryAfterSeconds: 5 });
}
