import type { OracleError } from '../../../platform/errors.ts';
import type { Log } from '../../../platform/log.ts';
import type { CircuitState, ProviderHealth } from './provider.ts';
import { PROVIDERS, type ProviderId } from './providers.ts';

/** Lasts from the first failure until each failed operation has succeeded again. */
interface Outage {
  sinceMs: number;
  /** Failed operations: a single broken endpoint of a healthy provider is one outage, not one per call. */
  failing: Set<string>;
  failedCalls: number;
  circuitOpened: boolean;
}

/** Call statistics of a provider. The log gets state changes only. */
export class ProviderHealthTracker {
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
  };
  #outage: Outage | null = null;

  constructor(provider: ProviderId, log: Log, now: () => number) {
    this.#provider = provider;
    this.#log = log;
    this.#now = now;
  }

  recordSuccess(what: string): void {
    this.#health.calls += 1;
    this.#health.lastOkAtMs = this.#now();
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

  health(circuit: CircuitState): ProviderHealth {
    return { provider: this.#provider, title: PROVIDERS[this.#provider].title, circuit, ...this.#health };
  }
}
