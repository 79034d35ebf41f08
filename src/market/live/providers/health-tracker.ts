import type { OracleError } from '../../../platform/errors.ts';
import type { Log } from '../../../platform/log.ts';
import type { CircuitState, ProviderHealth } from './provider.ts';
import { PROVIDERS, type ProviderId } from './providers.ts';

/** From the first failure until everything that failed has succeeded again. */
interface Outage {
  sinceMs: number;
  /** What was asked for in vain: one broken page of a provider that is else well is one outage, not one each time. */
  failing: Set<string>;
  failedCalls: number;
  circuitOpened: boolean;
}

/** How a provider has been doing; the log hears of changes only. */
export class ProviderHealthTracker {
  readonly #provider: ProviderId;
  readonly #log: Log;
  readonly #now: () => number;
  #calls = 0;
  #failures = 0;
  #lastOkAtMs: number | null = null;
  #lastFailureAtMs: number | null = null;
  #lastError: string | null = null;
  #clockSkewMs: number | null = null;
  #outage: Outage | null = null;

  constructor(provider: ProviderId, log: Log, now: () => number) {
    this.#provider = provider;
    this.#log = log;
    this.#now = now;
  }

  get lastError(): string | null {
    return this.#lastError;
  }

  recordSuccess(what: string): void {
    this.#calls += 1;
    this.#lastOkAtMs = this.#now();
    if (this.#outage === null) return;
    const { sinceMs, failing, failedCalls } = this.#outage;
    failing.delete(what);
    if (failing.size > 0) return;
    this.#lastError = null;
    this.#outage = null;
    this.#log.info({ provider: this.#provider, downForMs: this.#lastOkAtMs - sinceMs, failedCalls }, 'provider recovered');
  }

  recordFailure(what: string, error: OracleError): void {
    this.#calls += 1;
    this.#failures += 1;
    this.#lastFailureAtMs = this.#now();
    this.#lastError = error.message;
    if (this.#outage === null) {
      this.#outage = { sinceMs: this.#lastFailureAtMs, failing: new Set(), failedCalls: 0, circuitOpened: false };
      this.#log.warn({ provider: this.#provider, error: error.message }, 'provider failing');
    }
    this.#outage.failing.add(what);
    this.#outage.failedCalls += 1;
  }

  /** Half-open trials that fail open the circuit again and again within one outage. */
  recordCircuitOpened(untilMs: number): void {
    if (this.#outage === null || this.#outage.circuitOpened) return;
    this.#outage.circuitOpened = true;
    const { failedCalls } = this.#outage;
    this.#log.warn({ provider: this.#provider, failedCalls, until: new Date(untilMs).toISOString() }, 'provider circuit opened');
  }

  recordClockSkew(skewMs: number): void {
    this.#clockSkewMs = skewMs;
  }

  health(circuit: CircuitState): ProviderHealth {
    return {
      provider: this.#provider,
      title: PROVIDERS[this.#provider].title,
      circuit,
      calls: this.#calls,
      failures: this.#failures,
      lastOkAtMs: this.#lastOkAtMs,
      lastFailureAtMs: this.#lastFailureAtMs,
      lastError: this.#lastError,
      clockSkewMs: this.#clockSkewMs,
    };
  }
}
