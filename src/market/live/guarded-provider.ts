import { AsyncLocalStorage } from 'node:async_hooks';
import { BrokenCircuitError, DelegateBackoff, handleWhen, type IPolicy, retry, TimeoutStrategy, timeout } from 'cockatiel';
import { OracleError } from '../../errors.ts';
import type { Log } from '../../log.ts';
import { AttemptError, callError, isTransient } from './attempt-error.ts';
import { Circuit } from './circuit.ts';
import { sendRequest } from './http-request.ts';
import { createPace, type Pace } from './pace.ts';
import type { Provider, ProviderAnswer, ProviderHealth, ProviderRequest } from './provider.ts';
import { ProviderRecord } from './provider-record.ts';
import { backoffMs, type ProviderTiming } from './provider-timing.ts';
import { PROVIDERS, type ProviderId } from './providers.ts';

export interface GuardOptions {
  baseUrl: string;
  timing: ProviderTiming;
  log: Log;
  now: () => number;
  /** Ends every call. */
  signal: AbortSignal;
}

/** The attempt that the running code belongs to. */
interface Attempt {
  signal: AbortSignal;
  /** Whether the turn that the attempt waited for was used by a request. */
  turnUsed: boolean;
}

/** From the outside in: the circuit, the retries, the queue for the rate limit, the time-out. */
export class GuardedProvider implements Provider {
  readonly id: ProviderId;
  readonly title: string;
  readonly baseUrl: string;
  readonly #options: GuardOptions;
  readonly #circuit: Circuit;
  readonly #retry: IPolicy;
  readonly #pace: Pace;
  readonly #timeout: IPolicy<{ signal: AbortSignal }>;
  readonly #record: ProviderRecord;
  readonly #attempts = new AsyncLocalStorage<Attempt>();

  constructor(id: ProviderId, options: GuardOptions) {
    const { timing, log, now, signal, baseUrl } = options;
    this.id = id;
    this.title = PROVIDERS[id].title;
    this.baseUrl = baseUrl;
    this.#options = options;
    this.#circuit = new Circuit(timing, now);
    this.#retry = retry(
      handleWhen((error) => this.#mayRetry(error)),
      { maxAttempts: timing.attempts - 1, backoff: new DelegateBackoff(({ attempt }) => backoffMs(timing, attempt)) },
    );
    this.#pace = createPace(timing.minIntervalMs ?? PROVIDERS[id].minIntervalMs, signal);
    this.#timeout = timeout(timing.attemptTimeoutMs, TimeoutStrategy.Aggressive);
    this.#record = new ProviderRecord(id, log, now);
  }

  call<T>(what: string, run: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const attempt = this.#attempts.getStore();
    return attempt === undefined ? this.#guard(what, run) : this.#join(attempt, run);
  }

  request(request: ProviderRequest): Promise<ProviderAnswer> {
    const { title, baseUrl } = this;
    const onClockSkew = (skewMs: number) => this.#record.clockSeen(skewMs);
    return this.call(request.path, (signal) => sendRequest(request, { title, baseUrl, signal, now: this.#options.now, onClockSkew }));
  }

  health(): ProviderHealth {
    return this.#record.health(this.#circuit.state);
  }

  async #guard<T>(what: string, run: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { signal } = this.#options;
    try {
      const value = await untilAborted(signal, () => this.#circuit.execute(() => this.#retry.execute(() => this.#attempt(run), signal)));
      this.#record.succeeded(what);
      return value;
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (error instanceof BrokenCircuitError) throw this.#refusal(error);
      throw this.#failure(what, error);
    }
  }

  async #attempt<T>(run: (signal: AbortSignal) => Promise<T>): Promise<T> {
    await this.#pace.turn();
    // Others may have opened it while this one stood in line.
    if (this.#circuit.state === 'open') throw new BrokenCircuitError();
    try {
      return await this.#timeout.execute(
        ({ signal }) => this.#attempts.run({ signal, turnUsed: false }, () => run(signal)),
        this.#options.signal,
      );
    } catch (error) {
      this.#heed(error);
      throw error;
    }
  }

  /** A call within a call would wait for the circuit that its own attempt holds half open: it is part of that attempt instead. */
  async #join<T>(attempt: Attempt, run: (signal: AbortSignal) => Promise<T>): Promise<T> {
    if (attempt.turnUsed) await this.#pace.turn();
    attempt.turnUsed = true;
    attempt.signal.throwIfAborted();
    return run(attempt.signal);
  }

  #heed(error: unknown): void {
    if (!(error instanceof AttemptError) || error.retryAfterMs === null) return;
    if (this.#isTooLong(error)) this.#circuit.leaveAlone(error.retryAfterMs);
    else this.#pace.hold(error.retryAfterMs);
  }

  /** What opens a circuit again is one attempt, not a series of them. */
  #mayRetry(error: unknown): boolean {
    return isTransient(error) && !this.#isTooLong(error) && this.#circuit.state !== 'half-open';
  }

  #isTooLong(error: unknown): boolean {
    return error instanceof AttemptError && (error.retryAfterMs ?? 0) > this.#options.timing.longestRetryAfterMs;
  }

  #failure(what: string, cause: unknown): OracleError {
    const error = callError(this.title, what, cause);
    this.#record.failed(what, error);
    if (this.#circuit.state === 'open') this.#record.circuitOpened(this.#circuit.openUntilMs);
    return error;
  }

  /** The provider was not asked: that is no failure of it. */
  #refusal(cause: BrokenCircuitError): OracleError {
    const until = new Date(this.#circuit.openUntilMs).toISOString();
    const message = `${this.title} is not asked before ${until}, because of its failures; the last: ${this.#record.lastError}`;
    return new OracleError('FEED_UNAVAILABLE', message, { cause });
  }
}

/** Also where the work itself cannot be interrupted. @throws the reason of the signal */
async function untilAborted<T>(signal: AbortSignal, start: () => Promise<T>): Promise<T> {
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
