import type { OracleError } from '../../errors.ts';

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
