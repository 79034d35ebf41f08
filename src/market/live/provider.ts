import { TaskCancelledError } from 'cockatiel';
import { isOracleError, OracleError } from '../../errors.ts';
import { createOperatorFetch, ResponseTooLargeError } from '../../platform/outbound/operator.ts';

export const CIRCUIT_STATES = ['closed', 'open', 'half-open'] as const;
export type CircuitState = (typeof CIRCUIT_STATES)[number];

export interface ProviderHealth {
  provider: ProviderId;
  title: string;
  circuit: CircuitState;
  /** Calls since the process started, without those that the open circuit rejected. */
  calls: number;
  /** Calls that failed after all retries. */
  failures: number;
  lastOkAtMs: number | null;
  lastFailureAtMs: number | null;
  /** Message of the last failure; null after recovery. */
  lastError: string | null;
  /** The provider's clock minus ours at its last response (ms, to the second); null without a `Date` header. */
  clockSkewMs: number | null;
  /** Rows of successful answers that were invalid and left out, since the process started. */
  rowsLeftOut: number;
  /** When a row was last left out (ms), and why; null without one. */
  lastLeftOutAtMs: number | null;
  lastLeftOut: string | null;
}

export interface ProviderRequest {
  path: string;
  query?: Record<string, string | number>;
  method?: 'GET' | 'POST';
  headers?: Record<string, string>;
  body?: unknown;
  /** Format of the response; default `json`. */
  format?: 'json' | 'text';
}

export interface ProviderAnswer {
  /** Parsed JSON, or a string for `format: 'text'`. */
  body: unknown;
  receivedAtMs: number;
  /** The `Date` header; null without one. */
  providerAtMs: number | null;
}

/**
 * One provider behind timeout, bounded retries with jitter, throttle and circuit breaker. Calls throw FEED_UNAVAILABLE (no response,
 * rejected, circuit open) or FEED_INVALID (unreadable response), naming the provider; at shutdown SHUTTING_DOWN, which is not recorded as
 * a failure.
 */
export interface Provider {
  readonly id: ProviderId;
  readonly title: string;
  readonly baseUrl: string;
  /**
   * Runs one operation under the policies; any error it throws, parsing included, is a failure of the provider. A nested `call` or
   * `request` belongs to the same attempt. `what` names the operation in messages.
   */
  call<T>(what: string, run: (signal: AbortSignal) => Promise<T>): Promise<T>;
  request(request: ProviderRequest): Promise<ProviderAnswer>;
  /** Sets or clears (null) the problem of a part of valid responses: in health and log, without an effect on the circuit. */
  recordProblem(what: string, problem: OracleError | null): void;
  /** Counts an invalid row of the answer that the current call reads; not counted if the call fails. */
  leaveOut(problem: OracleError): void;
  health(): ProviderHealth;
}

interface ProviderEntry {
  title: string;
  baseUrl: string;
  /** Minimum interval between two requests, from the provider's published rate limit. */
  minIntervalMs: number;
  licence: string;
}

const EXCHANGE_LICENCE = 'terms of the exchange; no licence to redistribute is known';
const UNKNOWN_LICENCE = 'none known';

export const PROVIDERS = {
  coinbase: { title: 'Coinbase Exchange', baseUrl: 'https://api.exchange.coinbase.com', minIntervalMs: 100, licence: EXCHANGE_LICENCE },
  kraken: { title: 'Kraken', baseUrl: 'https://api.kraken.com', minIntervalMs: 1_000, licence: EXCHANGE_LICENCE },
  bitstamp: { title: 'Bitstamp', baseUrl: 'https://www.bitstamp.net', minIntervalMs: 100, licence: EXCHANGE_LICENCE },
  binance: { title: 'Binance data mirror', baseUrl: 'https://data-api.binance.vision', minIntervalMs: 100, licence: EXCHANGE_LICENCE },
  okx: { title: 'OKX', baseUrl: 'https://www.okx.com', minIntervalMs: 400, licence: EXCHANGE_LICENCE },
  deribit: { title: 'Deribit', baseUrl: 'https://www.deribit.com', minIntervalMs: 250, licence: EXCHANGE_LICENCE },
  bybit: { title: 'Bybit', baseUrl: 'https://api.bybit.com', minIntervalMs: 50, licence: EXCHANGE_LICENCE },
  'binance-futures': { title: 'Binance Futures', baseUrl: 'https://fapi.binance.com', minIntervalMs: 700, licence: EXCHANGE_LICENCE },
  'alternative-me': {
    title: 'alternative.me',
    baseUrl: 'https://api.alternative.me',
    minIntervalMs: 1_000,
    licence: 'free, also commercially; the source has to be named beside the figure',
  },
  sosovalue: {
    title: 'SoSoValue',
    baseUrl: 'https://api.sosovalue.xyz',
    minIntervalMs: 3_000,
    licence: 'terms of the interface (a key); no licence to redistribute is known',
  },
  bitbo: { title: 'Bitbo', baseUrl: 'https://bitbo.io', minIntervalMs: 3_000, licence: UNKNOWN_LICENCE },
  farside: { title: 'Farside Investors', baseUrl: 'https://farside.co.uk', minIntervalMs: 3_000, licence: UNKNOWN_LICENCE },
  yahoo: {
    title: 'Yahoo Finance',
    baseUrl: 'https://query1.finance.yahoo.com',
    minIntervalMs: 500,
    licence: 'for personal use; not to be redistributed',
  },
  fred: {
    title: 'FRED, Federal Reserve Bank of St. Louis',
    baseUrl: 'https://fred.stlouisfed.org',
    minIntervalMs: 500,
    licence:
      'series of the Federal Reserve and the Treasury are free, the source is to be named; S&P 500 and VIX belong to S&P Dow Jones and Cboe, and are not to be redistributed',
  },
  dbnomics: {
    title: 'DBnomics',
    baseUrl: 'https://api.db.nomics.world',
    minIntervalMs: 1_000,
    licence: 'free access; the PMI belongs to the Institute for Supply Management, and is not to be redistributed',
  },
  bitview: { title: 'Bitview', baseUrl: 'https://bitview.space', minIntervalMs: 500, licence: UNKNOWN_LICENCE },
  // Rate limit per IP address: 8 requests an hour, 15 a day.
  'bitcoin-data': { title: 'bitcoin-data.com', baseUrl: 'https://bitcoin-data.com', minIntervalMs: 10_000, licence: UNKNOWN_LICENCE },
  'polymarket-gamma': { title: 'Polymarket', baseUrl: 'https://gamma-api.polymarket.com', minIntervalMs: 200, licence: UNKNOWN_LICENCE },
  'polymarket-clob': {
    title: 'Polymarket order book',
    baseUrl: 'https://clob.polymarket.com',
    minIntervalMs: 100,
    licence: UNKNOWN_LICENCE,
  },
  kalshi: { title: 'Kalshi', baseUrl: 'https://api.elections.kalshi.com', minIntervalMs: 200, licence: UNKNOWN_LICENCE },
} as const satisfies Record<string, ProviderEntry>;

export type ProviderId = keyof typeof PROVIDERS;
/** The venues of the spot price and of the closes that outcomes resolve against. */
export const VENUE_IDS = ['coinbase', 'kraken', 'bitstamp', 'binance'] as const satisfies readonly ProviderId[];
export const PROVIDER_IDS = Object.keys(PROVIDERS) as ProviderId[];

/** Upper bound, so that a wrong header cannot disable a provider for good. */
const MAX_RETRY_AFTER_MS = 24 * 3_600_000;

interface ProviderRequestContext {
  title: string;
  baseUrl: string;
  signal: AbortSignal;
  now: () => number;
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
  { baseUrl, signal }: ProviderRequestContext,
): Promise<Response> {
  try {
    const url = new URL(`${baseUrl}${path}`);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, String(value));
    const fetchProvider = createOperatorFetch({ base: baseUrl, timeoutMs: MAX_EXCHANGE_MS, maxBytes: MAX_BODY_BYTES });
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

/** One failed HTTP request; the message begins with its path. */
export class AttemptError extends Error {
  override readonly name = 'AttemptError';
  readonly retryable: boolean;
  /** From the `Retry-After` header; null without one. */
  readonly retryAfterMs: number | null;

  constructor(message: string, options: { retryable: boolean; retryAfterMs?: number | null; cause?: unknown }) {
    super(message, options);
    this.retryable = options.retryable;
    this.retryAfterMs = options.retryAfterMs ?? null;
  }
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
