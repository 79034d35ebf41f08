import { setTimeout as delay } from 'node:timers/promises';
import { OracleError } from '../errors.ts';

/** Work of a request takes some 10 ms of CPU: what begins at once must not delay the next request by more than the target. */
const INITIAL_LIMIT = 8;
const MIN_LIMIT = 4;
const MAX_LIMIT = 512;
/** A queueing delay that persists above this lowers the limit. */
const TARGET_DELAY_MS = 100;
/** Samples that must all be above the target: a single garbage collection or burst changes nothing (CoDel, RFC 8289, section 3). */
const STANDING_SAMPLES = 3;
const DECREASE = 0.8;
const INCREASE = 1.05;
const RATE_WEIGHT = 0.3;
/** Assumed to be left to a priority by those above it. */
const MIN_RATE_SHARE = 0.05;
const MAX_RETRY_AFTER_SECONDS = 30;

export interface PriorityRules {
  /** Longest wait for admission, in milliseconds. */
  maxWaitMs: number;
  /** Rejected after this time, so that a client that repeats its request at once costs little; default: at once. */
  rejectAfterMs?: number;
  /** Fraction of the limit that this priority may use; the rest is reserved for the others. */
  share: number;
  /** Starts nothing while work of the priority before it waits, which is what it began earlier and holds memory for. */
  yields?: true;
}

interface LoadShedderOptions {
  /** Highest first. */
  priorities: readonly PriorityRules[];
  /** Milliseconds of a monotonic clock. */
  now?(): number;
}

interface Waiting {
  sinceMs: number;
  admit(release: ReleaseSlot): void;
  shed(error: OracleError): void;
}

export type ReleaseSlot = () => void;

/**
 * Admission control: a limit of concurrent work that adapts to the measured queueing delay (additive-increase/multiplicative-decrease), and
 * a queue by priority before it. Work that cannot start within the longest wait of its priority is shed at once.
 */
export class LoadShedder {
  readonly #priorities: readonly PriorityRules[];
  readonly #now: () => number;
  readonly #queues: Set<Waiting>[];
  /** Work that has been admitted and has not ended, by priority. */
  readonly #running: number[];
  #limit = INITIAL_LIMIT;
  #delays: number[] = [];
  #newestDelayMs = 0;
  /** Admissions of each priority since the last sample. */
  #admitted: number[];
  /** Admissions per millisecond of each priority while there is a queue; null without one. */
  #rates: number[] | null = null;
  #sampledAtMs: number;

  constructor({ priorities, now = () => performance.now() }: LoadShedderOptions) {
    this.#priorities = priorities;
    this.#now = now;
    this.#queues = priorities.map(() => new Set());
    this.#running = priorities.map(() => 0);
    this.#admitted = priorities.map(() => 0);
    this.#sampledAtMs = now();
  }

  /** Work that has been admitted and has not ended. */
  get running(): number {
    return sum(this.#running);
  }

  /** Work that may run at a time. */
  get limit(): number {
    return this.#limit;
  }

  /** Newest sample of the queueing delay, milliseconds; 0 before the first. */
  get delayMs(): number {
    return this.#newestDelayMs;
  }

  /** Work in the queue. */
  get waiting(): number {
    return sum(this.#queues.map(({ size }) => size));
  }

  /** Admits without a wait; null where work of this priority would wait. @param priority index of `priorities` */
  tryEnter(priority: number): ReleaseSlot | null {
    return this.#hasRoom(priority) ? this.#start(priority) : null;
  }

  #hasRoom(priority: number): boolean {
    const { share, yields } = this.#priorities[priority]!;
    if (yields === true && this.#queues[priority - 1]!.size > 0) return false;
    const own = Math.max(1, Math.floor(this.#limit * share));
    return this.running < this.#limit && this.#running[priority]! < own;
  }

  /**
   * Waits for admission until `signal` aborts.
   * @throws OracleError OVERLOADED with the expected wait in `retryAfterSeconds`
   */
  async enter(priority: number, signal: AbortSignal): Promise<ReleaseSlot> {
    const release = this.tryEnter(priority);
    if (release !== null) return release;
    const expectedMs = this.#estimateWaitMs(priority);
    const { maxWaitMs, rejectAfterMs = 0 } = this.#priorities[priority]!;
    if (expectedMs > maxWaitMs) {
      if (rejectAfterMs > 0) await delay(rejectAfterMs, undefined, { signal }).catch(() => undefined);
      throw this.#buildError();
    }
    const { promise, resolve, reject } = Promise.withResolvers<ReleaseSlot>();
    const waiting = { sinceMs: this.#now(), admit: resolve, shed: reject };
    const queue = this.#queues[priority]!;
    queue.add(waiting);
    const leave = () => {
      queue.delete(waiting);
      reject(this.#buildError());
    };
    signal.addEventListener('abort', leave, { once: true });
    if (signal.aborted) leave();
    return promise.finally(() => signal.removeEventListener('abort', leave));
  }

  /** Takes a sample of the queueing delay: adapts the limit, and sheds what has waited too long. */
  observe(delayMs: number): void {
    const isSaturated = this.running >= this.#limit || this.waiting > 0;
    this.#newestDelayMs = delayMs;
    this.#measureRates(isSaturated);
    this.#delays = [...this.#delays, delayMs].slice(-STANDING_SAMPLES);
    if (this.#delays.length === STANDING_SAMPLES && Math.min(...this.#delays) > TARGET_DELAY_MS) {
      this.#limit = Math.max(MIN_LIMIT, Math.floor(Math.min(this.#limit, this.running) * DECREASE));
      this.#delays = [];
    } else if (isSaturated && delayMs <= TARGET_DELAY_MS) this.#limit = Math.min(MAX_LIMIT, Math.ceil(this.#limit * INCREASE));
    this.#shedExpired();
    this.#admitWaiting();
  }

  #measureRates(isSaturated: boolean): void {
    const now = this.#now();
    const rates = this.#admitted.map((count) => count / Math.max(1, now - this.#sampledAtMs));
    // The rates of a process that could do more, or has just begun to, say nothing about a queue.
    if (!isSaturated || (this.#rates === null && sum(rates) === 0)) this.#rates = null;
    else this.#rates = this.#rates?.map((rate, priority) => rate + RATE_WEIGHT * (rates[priority]! - rate)) ?? rates;
    this.#admitted.fill(0);
    this.#sampledAtMs = now;
  }

  #start(priority: number): ReleaseSlot {
    this.#running[priority]! += 1;
    this.#admitted[priority]! += 1;
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      this.#running[priority]! -= 1;
      this.#admitWaiting();
    };
  }

  #admitWaiting(): void {
    for (const [priority, queue] of this.#queues.entries())
      for (const waiting of queue) {
        if (!this.#hasRoom(priority)) break;
        queue.delete(waiting);
        waiting.admit(this.#start(priority));
      }
  }

  #shedExpired(): void {
    const now = this.#now();
    for (const [priority, queue] of this.#queues.entries())
      for (const waiting of queue) {
        if (now - waiting.sinceMs <= this.#priorities[priority]!.maxWaitMs) break;
        queue.delete(waiting);
        waiting.shed(this.#buildError());
      }
  }

  /** Of work that arrives now, behind all of its priority and above, and behind what will arrive above. */
  #estimateWaitMs(priority: number): number {
    if (this.#rates === null) return 0;
    const ahead = sum(this.#queues.slice(0, priority + 1).map(({ size }) => size));
    const [total, above] = [sum(this.#rates), sum(this.#rates.slice(0, priority))];
    return (ahead + 1) / Math.max(total - above, MIN_RATE_SHARE * total, Number.EPSILON);
  }

  #buildError(): OracleError {
    const expectedSeconds = Math.ceil(this.#estimateWaitMs(this.#queues.length - 1) / 1_000);
    return new OracleError('OVERLOADED', 'The service has more requests than it can answer in time', {
      suggestedAction: 'Repeat the request after Retry-After; requests of token holders go first, and payments are not kept waiting.',
      retryAfterSeconds: Math.min(MAX_RETRY_AFTER_SECONDS, Math.max(1, expectedSeconds)),
    });
  }
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

const SAMPLE_MS = 100;

interface QueueingDelayOptions {
  /** A request to the database that does nothing, over the connections that all requests share. */
  ping(): Promise<unknown>;
  observe(delayMs: number): void;
  signal: AbortSignal;
  /** Milliseconds of a monotonic clock. */
  now?(): number;
}

/** Samples how long work waits before it runs: for the event loop, and for a connection and an answer of the database. */
export function watchQueueingDelay({ ping, observe, signal, now = () => performance.now() }: QueueingDelayOptions): void {
  let pingedAtMs: number | null = null;
  let pingMs = 0;
  const startPing = () => {
    const startedAtMs = now();
    pingedAtMs = startedAtMs;
    // A failure is no delay: requests fail as fast.
    const end = (ms: number) => {
      pingMs = ms;
      pingedAtMs = null;
    };
    ping().then(
      () => end(now() - startedAtMs),
      () => end(0),
    );
  };
  const sample = (dueAtMs: number) => {
    if (signal.aborted) return;
    const atMs = now();
    observe(atMs - dueAtMs + (pingedAtMs === null ? pingMs : Math.max(pingMs, atMs - pingedAtMs)));
    if (pingedAtMs === null) startPing();
    schedule();
  };
  const schedule = () => setTimeout(sample, SAMPLE_MS, now() + SAMPLE_MS).unref();
  schedule();
}
