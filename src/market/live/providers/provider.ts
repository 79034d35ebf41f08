import type { OracleError } from '../../../platform/errors.ts';
import type { ProviderId } from './providers.ts';

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
  health(): ProviderHealth;
}
