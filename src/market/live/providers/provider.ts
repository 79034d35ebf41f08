import type { ProviderId } from './providers.ts';

export const CIRCUIT_STATES = ['closed', 'open', 'half-open'] as const;

export type CircuitState = (typeof CIRCUIT_STATES)[number];

/** How a provider has been doing, as told to operators. */
export interface ProviderHealth {
  provider: ProviderId;
  title: string;
  circuit: CircuitState;
  /** Calls since the process began, and how many of them failed for good; without those that the open circuit refused. */
  calls: number;
  failures: number;
  lastOkAtMs: number | null;
  lastFailureAtMs: number | null;
  /** The last failure in words; null once a call has succeeded again. */
  lastError: string | null;
  /** The provider's clock minus ours at its last answer, where it tells one (ms, to the second). */
  clockSkewMs: number | null;
}

/** What to ask a provider for, relative to its base URL. */
export interface ProviderRequest {
  path: string;
  query?: Record<string, string | number>;
  method?: 'GET' | 'POST';
  headers?: Record<string, string>;
  /** Sent as JSON. */
  body?: unknown;
  /** How the answer is to be read; `json` unless told. */
  format?: 'json' | 'text';
}

export interface ProviderAnswer {
  /** Parsed JSON, or a string for `format: 'text'`. */
  body: unknown;
  receivedAtMs: number;
  /** The `Date` header of the answer; null without one. */
  providerAtMs: number | null;
}

/**
 * One provider behind its own time-out, bounded retries with jitter, rate limit and circuit. Every call may throw
 * FEED_UNAVAILABLE (no answer, refused, circuit open) or FEED_INVALID (an answer that cannot be read), naming the provider; at
 * shutdown it ends with SHUTTING_DOWN, which is no failure of the provider.
 */
export interface Provider {
  readonly id: ProviderId;
  readonly title: string;
  readonly baseUrl: string;
  /**
   * Runs any one request of the provider, reading included: what it throws counts as a failure of the provider. `what` is for
   * messages. A `call` or `request` made within `run` belongs to the same attempt: its time-out and retries are those of `run`.
   */
  call<T>(what: string, run: (signal: AbortSignal) => Promise<T>): Promise<T>;
  /** An HTTP request. */
  request(request: ProviderRequest): Promise<ProviderAnswer>;
  health(): ProviderHealth;
}
