import { AsyncLocalStorage } from 'node:async_hooks';
import { BrokenCircuitError, DelegateBackoff, handleWhen, type IPolicy, retry, TimeoutStrategy, timeout } from 'cockatiel';
import { OracleError } from '../../../platform/errors.ts';
import type { Log } from '../../../platform/log.ts';
import { AttemptError, isTransient, toFeedError } from './attempt-error.ts';
import { CircuitBreaker } from './circuit-breaker.ts';
import { ProviderHealthTracker } from './health-tracker.ts';
import { sendRequest } from './http-request.ts';
import type { Provider, ProviderAnswer, ProviderHealth, ProviderRequest } from './provider.ts';
import { computeBackoffMs, type ProviderTiming } from './provider-timing.ts';
import { PROVIDERS, type ProviderId } from './providers.ts';
import { createThrottle, type Throttle } from './throttle.ts';

interface GuardOptions {
  baseUrl: string;
  timing: ProviderTiming;
  log: Log;
  now: () => number;
  signal: AbortSignal;
}

interface Attempt {
  signal: AbortSignal;
  slotUsed: boolean;
}

/** Policies from the outside in: circuit breaker, retry, throttle, timeout. */
export class GuardedProvider implements Provider {
  readonly id: ProviderId;
  readonly title: string;
  readonly baseUrl: string;
  readonly #options: GuardOptions;
  readonly #circuit: CircuitBreaker;
  readonly #retry: IPolicy;
  readonly #throttle: Throttle;
  readonly #timeout: IPolicy<{ signal: AbortSignal }>;
  readonly #health: ProviderHealthTracker;
  readonly #attempts = new AsyncLocalStorage<Attempt>();

  constructor(id: ProviderId, options: GuardOptions) {
    const { timing, log, now, signal, baseUrl } = options;
    this.id = id;
    this.title = PROVIDERS[id].title;
    this.baseUrl = baseUrl;
    this.#options = options;
    this.#circuit = new CircuitBreaker(timing, now);
    this.#retry = retry(
      handleWhen((error) => this.#mayRetry(error)),
      { maxAttempts: timing.attempts - 1, backoff: new DelegateBackoff(({ attempt }) => computeBackoffMs(timing, attempt)) },
    );
    this.#throttle = createThrottle(timing.minIntervalMs ?? PROVIDERS[id].minIntervalMs, signal);
    this.#timeout = timeout(timing.attemptTimeoutMs, TimeoutStrategy.Aggressive);
    this.#health = new ProviderHealthTracker(id, log, now);
  }

  call<T>(what: string, run: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const attempt = this.#attempts.getStore();
    return attempt === undefined ? this.#guard(what, run) : this.#join(attempt, run);
  }

  request(request: ProviderRequest): Promise<ProviderAnswer> {
    const { title, baseUrl } = this;
    const onClockSkew = (skewMs: number) => this.#health.recordClockSkew(skewMs);
    return this.call(request.path, (signal) => sendRequest(request, { title, baseUrl, signal, now: this.#options.now, onClockSkew }));
  }

  recordProblem(what: string, problem: OracleError | null): void {
    this.#health.recordProblem(what, problem);
  }

  health(): ProviderHealth {
    return this.#health.health(this.#circuit.state);
  }

  async #guard<T>(what: string, run: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { signal } = this.#options;
    try {
      const value = await runUntilAborted(signal, () => this.#circuit.execute(() => this.#retry.execute(() => this.#attempt(run), signal)));
      this.#health.recordSuccess(what);
      return value;
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (error instanceof BrokenCircuitError) throw this.#toCircuitOpenError(error);
      throw this.#recordFailure(what, error);
    }
  }

  async #attempt<T>(run: (signal: AbortSignal) => Promise<T>): Promise<T> {
    await this.#throttle.acquire();
    // Another call may have opened the circuit while this one was queued.
    if (this.#circuit.state === 'open') throw new BrokenCircuitError();
    try {
      return await this.#timeout.execute(
        ({ signal }) => this.#attempts.run({ signal, slotUsed: false }, () => run(signal)),
        this.#options.signal,
      );
    } catch (error) {
      this.#applyRetryAfter(error);
      throw error;
    }
  }

  /** A nested call runs within the attempt of the outer one; otherwise it would deadlock on a half-open circuit. */
  async #join<T>(attempt: Attempt, run: (signal: AbortSignal) => Promise<T>): Promise<T> {
    if (attempt.slotUsed) await this.#throttle.acquire();
    attempt.slotUsed = true;
    attempt.signal.throwIfAborted();
    return run(attempt.signal);
  }

  #applyRetryAfter(error: unknown): void {
    if (!(error instanceof AttemptError) || error.retryAfterMs === null) return;
    if (this.#isTooLong(error)) this.#circuit.honorRetryAfter(error.retryAfterMs);
    else this.#throttle.pause(error.retryAfterMs);
  }

  /** No retries in the half-open state: one failed attempt opens the circuit again. */
  #mayRetry(error: unknown): boolean {
    return isTransient(error) && !this.#isTooLong(error) && this.#circuit.state !== 'half-open';
  }

  #isTooLong(error: unknown): boolean {
    return error instanceof AttemptError && (error.retryAfterMs ?? 0) > this.#options.timing.maxRetryAfterMs;
  }

  #recordFailure(what: string, cause: unknown): OracleError {
    const error = toFeedError(this.title, what, cause);
    this.#health.recordFailure(what, error);
    if (this.#circuit.state === 'open') this.#health.recordCircuitOpened(this.#circuit.openUntilMs);
    return error;
  }

  /** Not recorded as a failure, since no request was sent. */
  #toCircuitOpenError(cause: BrokenCircuitError): OracleError {
    const until = new Date(this.#circuit.openUntilMs).toISOString();
    const message = `${this.title} is suspended until ${until} after repeated failures; the last: ${this.health().lastError}`;
    return new OracleError('FEED_UNAVAILABLE', message, { cause });
  }
}

/** Rejects with the reason of the signal even when the work itself cannot be aborted. */
async function runUntilAborted<T>(signal: AbortSignal, start: () => Promise<T>): Promise<T> {
  signal.throwIfAborted();
  const { promise, reject } = Promise.withResolvers<never>();
  const stop = () => reject(signal.reason);
  signal.addEventListener('abort', stop, { once: true });
  try {
    return await Promise.race([start(), promise]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
