import type { OracleError } from '../../errors.ts';
import type { Log } from '../../log.ts';
import type { CircuitState, ProviderHealth } from './provider.ts';
import { PROVIDERS, type ProviderId } from './providers.ts';

/** From the first failure after a success up to the next success. */
interface Outage {
  sinceMs: number;
  failedCalls: number;
  circuitOpened: boolean;
}

/** How a provider has been doing; the log hears of changes only. */
export class ProviderRecord {
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

  succeeded(): void {
    this.#calls += 1;
    this.#lastOkAtMs = this.#now();
    this.#lastError = null;
    if (this.#outage === null) return;
    const { sinceMs, failedCalls } = this.#outage;
    this.#outage = null;
    this.#log.info({ provider: this.#provider, downForMs: this.#lastOkAtMs - sinceMs, failedCalls }, 'provider recovered');
  }

  failed(error: OracleError): void {
    this.#calls += 1;
    this.#failures += 1;
    this.#lastFailureAtMs = this.#now();
    this.#lastError = error.message;
    if (this.#outage === null) {
      this.#outage = { sinceMs: this.#lastFailureAtMs, failedCalls: 0, circuitOpened: false };
      this.#log.warn({ provider: this.#provider, error: error.message }, 'provider failing');
    }
    this.#outage.failedCalls += 1;
  }

  /** Half-open trials that fail open the circuit again and again within one outage. */
  circuitOpened(untilMs: number): void {
    if (this.#outage === null || this.#outage.circuitOpened) return;
    this.#outage.circuitOpened = true;
    const { failedCalls } = this.#outage;
    this.#log.warn({ provider: this.#provider, failedCalls, until: new Date(untilMs).toISOString() }, 'provider circuit opened');
  }

  clockSeen(skewMs: number): void {
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
