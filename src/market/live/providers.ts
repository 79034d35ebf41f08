import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import {
  BrokenCircuitError,
  type CircuitBreakerPolicy,
  CircuitState,
  ConsecutiveBreaker,
  circuitBreaker,
  DelegateBackoff,
  handleAll,
  handleWhen,
  type IPolicy,
  retry,
  TaskCancelledError,
  TimeoutStrategy,
  timeout,
} from 'cockatiel';
import PQueue from 'p-queue';
import { isOracleError, OracleError } from '../../errors.ts';
import type { Log } from '../../platform/log.ts';
import { createOperatorFetch, type OutboundFetch, ResponseTooLargeError } from '../../platform/outbound/operator.ts';
import type { AnswerSource } from './ask.ts';
import {
  AttemptError,
  PROVIDER_IDS,
  PROVIDERS,
  type Provider,
  type ProviderAnswer,
  type ProviderHealth,
  type ProviderId,
  type ProviderRequest,
} from './provider.ts';

interface ProvidersOptions {
  urls: ProviderUrls;
  log: Log;
  now?: () => number;
  timing?: Partial<ProviderTiming>;
  /** Default: the network. */
  answers?: AnswerSource | undefined;
  /** Aborts every call with its reason. */
  signal?: AbortSignal;
}

export function createProviders({ urls, log, now = Date.now, timing, answers, signal }: ProvidersOptions): Record<ProviderId, Provider> {
  const shared = { log, now, answers, timing: { ...PROVIDER_TIMING, ...timing }, signal: signal ?? new AbortController().signal };
  const entries = PROVIDER_IDS.map((id) => [id, new GuardedProvider(id, { ...shared, baseUrl: getBaseUrl(urls, id) })]);
  return Object.fromEntries(entries) as Record<ProviderId, Provider>;
}

interface GuardOptions {
  baseUrl: string;
  timing: ProviderTiming;
  log: Log;
  now: () => number;
  answers: AnswerSource | undefined;
  signal: AbortSignal;
}

interface Attempt {
  signal: AbortSignal;
  slotUsed: boolean;
  /** Problems of the rows that this attempt cannot use. */
  leftOut: OracleError[];
}

/** Policies from the outside in: circuit breaker, retry, throttle, timeout. */
class GuardedProvider implements Provider {
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
    const { now, answers } = this.#options;
    const onClockSkew = (skewMs: number) => this.#health.recordClockSkew(skewMs);
    const via = (live: OutboundFetch) => answers?.(this, live) ?? live;
    return this.call(request.path, (signal) => sendRequest(request, { title, baseUrl, signal, now, via, onClockSkew }));
  }

  recordProblem(what: string, problem: OracleError | null): void {
    this.#health.recordProblem(what, problem);
  }

  health(): ProviderHealth {
    return this.#health.health(this.#circuit.state);
  }

  leaveOut(problem: OracleError): void {
    this.#attempts.getStore()?.leftOut.push(problem);
  }

  async #guard<T>(what: string, run: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { signal } = this.#options;
    try {
      const { value, leftOut } = await runUntilAborted(signal, () =>
        this.#circuit.execute(() => this.#retry.execute(() => this.#attempt(run), signal)),
      );
      this.#health.recordSuccess(what, leftOut);
      return value;
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (error instanceof BrokenCircuitError) throw this.#toCircuitOpenError(error);
      throw this.#recordFailure(what, error);
    }
  }

  async #attempt<T>(run: (signal: AbortSignal) => Promise<T>): Promise<{ value: T; leftOut: OracleError[] }> {
    await this.#throttle.acquire();
    // Another call may have opened the circuit while this one was queued.
    if (this.#circuit.state === 'open') throw new BrokenCircuitError();
    const leftOut: OracleError[] = [];
    try {
      const value = await this.#timeout.execute(
        ({ signal }) => this.#attempts.run({ signal, slotUsed: false, leftOut }, () => run(signal)),
        this.#options.signal,
      );
      return { value, leftOut };
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

/** Upper bound, so that a wrong header cannot disable a provider for good. */
const MAX_RETRY_AFTER_MS = 24 * 3_600_000;

interface ProviderRequestContext {
  title: string;
  baseUrl: string;
  signal: AbortSignal;
  now: () => number;
  via?(live: OutboundFetch): OutboundFetch;
  /** Called with the provider's clock minus ours (ms) for each response with a `Date` header, whatever its status. */
  onClockSkew(skewMs: number): void;
}

const MAX_BODY_BYTES = 20_000_000;
/** Upper bound only: the signal aborts an attempt earlier. */
const MAX_EXCHANGE_MS = 60_000;
const TRANSIENT_STATUSES = [408, 429];

/** @throws AttemptError without a response or for an error status, OracleError FEED_INVALID for a body that is too large or not JSON */
export async function sendRequest(request: ProviderRequest, context: ProviderRequestContext): Promise<ProviderAnswer> {
  const { path, format = 'json' } = request;
  const response = await fetchResponse(request, context);
  const receivedAtMs = context.now();
  const dateMs = parseHttpDate(response.headers.get('date') ?? '');
  const providerAtMs = Number.isNaN(dateMs) ? null : dateMs;
  // An HTTP cache returns the original `Date` header with an `Age` header.
  const ageMs = Number(/^\d+$/.exec(response.headers.get('age') ?? '') ?? 0) * 1_000;
  if (providerAtMs !== null) context.onClockSkew(providerAtMs + ageMs - receivedAtMs);
  if (!response.ok) {
    await response.body?.cancel();
    const retryable = response.status >= 500 || TRANSIENT_STATUSES.includes(response.status);
    const retryAfterMs = parseRetryAfter(response.headers.get('retry-after'), providerAtMs ?? receivedAtMs);
    throw new AttemptError(`${path} answered ${response.status}`, { retryable, retryAfterMs });
  }
  const text = await readText(response, path, context.title);
  return { body: format === 'json' ? parseJson(text, path, context.title) : text, receivedAtMs, providerAtMs };
}

async function fetchResponse(
  { path, query = {}, method = 'GET', headers, body, format = 'json' }: ProviderRequest,
  { baseUrl, signal, via = (live) => live }: ProviderRequestContext,
): Promise<Response> {
  try {
    const url = new URL(`${baseUrl}${path}`);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, String(value));
    const fetchProvider = via(createOperatorFetch({ base: baseUrl, timeoutMs: MAX_EXCHANGE_MS, maxBytes: MAX_BODY_BYTES }));
    return await fetchProvider(url, {
      method,
      headers: {
        accept: format === 'json' ? 'application/json' : '*/*',
        'user-agent': 'bitcoin-signal-oracle',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      body: body === undefined ? undefined : JSON.stringify(body),
      signal,
    });
  } catch (cause) {
    throw new AttemptError(`${path} cannot be reached (${getNetworkErrorCode(cause)})`, { retryable: true, cause });
  }
}

function getNetworkErrorCode(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return (cause as { code?: string }).code ?? (cause as Error).name;
}

async function readText(response: Response, path: string, title: string): Promise<string> {
  try {
    return await response.text();
  } catch (cause) {
    if (cause instanceof ResponseTooLargeError) throw unreadableBody(`${title}: ${path} is longer than ${MAX_BODY_BYTES} bytes`);
    throw new AttemptError(`${path} broke off (${getNetworkErrorCode(cause)})`, { retryable: true, cause });
  }
}

function parseJson(text: string, path: string, title: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw unreadableBody(`${title}: ${path} is not JSON`, cause);
  }
}

function unreadableBody(message: string, cause?: unknown): OracleError {
  return new OracleError('FEED_INVALID', message, { field: 'answer', cause });
}

/** Parses `Retry-After` (RFC 9110: seconds or an HTTP date on the provider's clock) to a wait of at most a day (ms); null if invalid. */
export function parseRetryAfter(header: string | null, providerNowMs: number): number | null {
  const text = header?.trim() ?? '';
  const waitMs = /^\d+$/.test(text) ? Number(text) * 1_000 : parseHttpDate(text) - providerNowMs;
  return Number.isNaN(waitMs) ? null : Math.min(Math.max(waitMs, 0), MAX_RETRY_AFTER_MS);
}

/** @returns milliseconds since 1970; NaN for an invalid HTTP date */
export function parseHttpDate(text: string): number {
  return text.endsWith(' GMT') ? Date.parse(text) : Number.NaN;
}

export function isTransient(error: unknown): boolean {
  return error instanceof AttemptError ? error.retryable : error instanceof TaskCancelledError;
}

/** Keeps an OracleError; wraps any other error as FEED_UNAVAILABLE with its cause. */
export function toFeedError(title: string, what: string, error: unknown): OracleError {
  if (isOracleError(error)) return error;
  return new OracleError('FEED_UNAVAILABLE', `${title}: ${formatCallProblem(what, error)}`, { cause: error });
}

/** Omits messages of third-party errors, which contain whole URLs and response bodies. */
function formatCallProblem(what: string, error: unknown): string {
  if (error instanceof AttemptError) return error.message;
  if (error instanceof TaskCancelledError) return `${what} timed out`;
  return `${what} failed (${error instanceof Error ? error.constructor.name : typeof error})`;
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

const STATES: Record<CircuitState, ProviderHealth['circuit']> = {
  [CircuitState.Closed]: 'closed',
  [CircuitState.Open]: 'open',
  [CircuitState.HalfOpen]: 'half-open',
  [CircuitState.Isolated]: 'open',
};

/** Opens after consecutive failures or a long `Retry-After`; while half-open, one call goes through and others wait for its outcome. */
class CircuitBreaker {
  readonly #policy: CircuitBreakerPolicy;
  readonly #now: () => number;
  #retryAfter = { untilMs: 0, ms: 0 };
  /** When the open circuit becomes half-open (ms). */
  openUntilMs = 0;

  constructor(timing: ProviderTiming, now: () => number) {
    this.#now = now;
    const breaker = new ConsecutiveBreaker(timing.failuresToOpen);
    this.#policy = circuitBreaker(handleAll, {
      breaker: {
        state: breaker.state,
        success: () => breaker.success(),
        failure: () => breaker.failure() || this.#getRetryAfterMs() > 0,
      },
      halfOpenAfter: new DelegateBackoff(() => {
        const retryAfterMs = this.#getRetryAfterMs();
        const durationMs = retryAfterMs > 0 ? retryAfterMs : timing.halfOpenAfterMs;
        this.openUntilMs = this.#now() + durationMs;
        return durationMs;
      }),
    });
  }

  get state(): ProviderHealth['circuit'] {
    return STATES[this.#policy.state];
  }

  /** @throws cockatiel's BrokenCircuitError while the circuit is open */
  execute<T>(run: () => Promise<T>): Promise<T> {
    return this.#policy.execute(run);
  }

  /** The failing call opens the circuit for this duration. */
  honorRetryAfter(ms: number): void {
    if (ms > this.#getRetryAfterMs()) this.#retryAfter = { untilMs: this.#now() + ms, ms };
  }

  /** 0 when more is left than was asked for: the clock has been set back. */
  #getRetryAfterMs(): number {
    const leftMs = this.#retryAfter.untilMs - this.#now();
    return leftMs > this.#retryAfter.ms ? 0 : Math.max(0, leftMs);
  }
}

export interface ProviderTiming {
  attemptTimeoutMs: number;
  /** Attempts per call, the first included. */
  attempts: number;
  backoffMinMs: number;
  backoffMaxMs: number;
  /** A longer `Retry-After` opens the circuit for its duration instead of delaying the retry. */
  maxRetryAfterMs: number;
  /** Consecutive failed calls that open the circuit. */
  failuresToOpen: number;
  halfOpenAfterMs: number;
  /** Minimum interval between attempts; null: the published limit of each provider. */
  minIntervalMs: number | null;
}

export const PROVIDER_TIMING: ProviderTiming = {
  attemptTimeoutMs: 10_000,
  attempts: 3,
  backoffMinMs: 500,
  backoffMaxMs: 8_000,
  maxRetryAfterMs: 30_000,
  failuresToOpen: 5,
  halfOpenAfterMs: 60_000,
  minIntervalMs: null,
};

/** Wait before attempt `retry + 1` (ms): uniform jitter up to an exponential bound with factor 4. */
export function computeBackoffMs({ backoffMinMs, backoffMaxMs }: ProviderTiming, retry: number, random = Math.random): number {
  const bound = Math.min(backoffMaxMs, backoffMinMs * 4 ** retry);
  return backoffMinMs + random() * (bound - backoffMinMs);
}

/** Lasts from the first failure until each failed operation has succeeded again. */
interface Outage {
  sinceMs: number;
  /** Failed operations: a single broken endpoint of a healthy provider is one outage, not one per call. */
  failing: Set<string>;
  failedCalls: number;
  circuitOpened: boolean;
}

/** Call statistics of a provider. The log gets state changes only. */
class ProviderHealthTracker {
  readonly #provider: ProviderId;
  readonly #log: Log;
  readonly #now: () => number;
  readonly #health: Omit<ProviderHealth, 'provider' | 'title' | 'circuit'> = {
    calls: 0,
    failures: 0,
    lastOkAtMs: null,
    lastFailureAtMs: null,
    lastError: null,
    clockSkewMs: null,
    rowsLeftOut: 0,
    lastLeftOutAtMs: null,
    lastLeftOut: null,
  };
  #outage: Outage | null = null;

  constructor(provider: ProviderId, log: Log, now: () => number) {
    this.#provider = provider;
    this.#log = log;
    this.#now = now;
  }

  /** `leftOut` are the problems of the rows that the call could not use. */
  recordSuccess(what: string, leftOut: readonly OracleError[]): void {
    this.#health.calls += 1;
    this.#health.lastOkAtMs = this.#now();
    if (leftOut.length > 0) {
      this.#health.rowsLeftOut += leftOut.length;
      this.#health.lastLeftOutAtMs = this.#now();
      this.#health.lastLeftOut = leftOut[0].message;
    }
    this.#endFailure(what);
  }

  recordFailure(what: string, error: OracleError): void {
    this.#health.calls += 1;
    this.#health.failures += 1;
    this.#beginFailure(what, error).failedCalls += 1;
  }

  /** A problem of successful calls; null ends it. */
  recordProblem(what: string, problem: OracleError | null): void {
    if (problem === null) this.#endFailure(what);
    else this.#beginFailure(what, problem);
  }

  #beginFailure(what: string, error: OracleError): Outage {
    const nowMs = this.#now();
    this.#health.lastFailureAtMs = nowMs;
    this.#health.lastError = error.message;
    if (this.#outage === null) {
      this.#outage = { sinceMs: nowMs, failing: new Set(), failedCalls: 0, circuitOpened: false };
      this.#log.warn({ provider: this.#provider, error: error.message }, 'provider failing');
    }
    this.#outage.failing.add(what);
    return this.#outage;
  }

  #endFailure(what: string): void {
    if (this.#outage === null) return;
    const { sinceMs, failing, failedCalls } = this.#outage;
    failing.delete(what);
    if (failing.size > 0) return;
    this.#health.lastError = null;
    this.#outage = null;
    this.#log.info({ provider: this.#provider, downForMs: this.#now() - sinceMs, failedCalls }, 'provider recovered');
  }

  /** Logs the first opening of an outage only: each failed half-open trial opens the circuit again. */
  recordCircuitOpened(untilMs: number): void {
    if (this.#outage === null || this.#outage.circuitOpened) return;
    this.#outage.circuitOpened = true;
    const { failedCalls } = this.#outage;
    this.#log.warn({ provider: this.#provider, failedCalls, until: new Date(untilMs).toISOString() }, 'provider circuit opened');
  }

  recordClockSkew(skewMs: number): void {
    this.#health.clockSkewMs = skewMs;
  }

  health(circuit: ProviderHealth['circuit']): ProviderHealth {
    return { provider: this.#provider, title: PROVIDERS[this.#provider].title, circuit, ...this.#health };
  }
}

type Throttle = ReturnType<typeof createThrottle>;

/** Grants slots in FIFO order, at least `minIntervalMs` apart. */
export function createThrottle(minIntervalMs: number, signal: AbortSignal) {
  const queue = new PQueue({ concurrency: 1 });
  // Monotonic: after a correction of the system clock, slots would come hours late.
  const clock = () => performance.now();
  let freeAtMs = 0;

  const takeSlot = async (): Promise<void> => {
    for (let waitMs = freeAtMs - clock(); waitMs > 0; waitMs = freeAtMs - clock()) {
      await delay(Math.ceil(waitMs), undefined, { signal });
    }
    freeAtMs = clock() + minIntervalMs;
  };

  return {
    /** Waits in order for a slot. @throws the reason of the signal when it aborts */
    acquire: (): Promise<void> =>
      queue.add(takeSlot).catch((error: unknown) => {
        throw signal.aborted ? signal.reason : error;
      }),
    /** Delays all slots, those of queued callers included, by at least this duration. */
    pause(ms: number): void {
      freeAtMs = Math.max(freeAtMs, clock() + ms);
    },
  };
}

export interface ProviderUrls {
  named: Partial<Record<ProviderId, string>>;
  /** Template with `{provider}` for all other providers; null: their own URLs. */
  others: string | null;
}

const WILDCARD = '*';
const PLACEHOLDER = '{provider}';

/**
 * Parses the setting PROVIDER_URLS: comma-separated pairs `provider=url`; `*=https://host/{provider}` applies to all other providers.
 * @throws OracleError CONFIG_INVALID naming the invalid pair
 */
export function parseProviderUrls(text: string): ProviderUrls {
  const urls: ProviderUrls = { named: {}, others: null };
  for (const part of text.split(',')) if (part.trim() !== '') addPair(urls, part.trim());
  return urls;
}

/** Without a trailing slash. */
export function getBaseUrl(urls: ProviderUrls, id: ProviderId): string {
  return urls.named[id] ?? urls.others?.replaceAll(PLACEHOLDER, id) ?? PROVIDERS[id].baseUrl;
}

function addPair(urls: ProviderUrls, pair: string): void {
  const [, name, url] = /^([^=]+?)\s*=\s*(.+)$/.exec(pair) ?? [];
  if (name === undefined) throw invalidProviderUrls(`"${pair}" is not of the form provider=url`);
  const baseUrl = parseBaseUrl(name, url);
  const id = PROVIDER_IDS.find((known) => known === name);
  if (name === WILDCARD) urls.others = baseUrl;
  else if (id !== undefined) urls.named[id] = baseUrl;
  else throw invalidProviderUrls(`"${name}" is not a provider`);
}

function parseBaseUrl(name: string, text: string): string {
  if ((name === WILDCARD) !== text.includes(PLACEHOLDER))
    throw invalidProviderUrls(`"${name}=${text}": ${PLACEHOLDER} belongs to ${WILDCARD}, and only there`);
  const url = URL.parse(text.replaceAll(PLACEHOLDER, 'provider'));
  if (url === null || !['http:', 'https:'].includes(url.protocol)) throw invalidProviderUrls(`"${name}=${text}" has no http or https URL`);
  // fetch rejects URLs with credentials, and paths are appended to the base URL, so it cannot have a query or hash.
  if (url.username + url.password + url.search + url.hash !== '')
    throw invalidProviderUrls(`the URL of "${name}" may have a host and a path only`);
  return text.replace(/\/+$/, '');
}

function invalidProviderUrls(problem: string): OracleError {
  return new OracleError('CONFIG_INVALID', `Setting PROVIDER_URLS: ${problem}`, {
    field: 'PROVIDER_URLS',
    suggestedAction: `Name providers as ${WILDCARD} or one of ${PROVIDER_IDS.join(', ')}, each followed by = and a URL.`,
  });
}
