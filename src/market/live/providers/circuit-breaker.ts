import { type CircuitBreakerPolicy, CircuitState, ConsecutiveBreaker, circuitBreaker, DelegateBackoff, handleAll } from 'cockatiel';
import type { ProviderHealth } from './provider.ts';
import type { ProviderTiming } from './provider-timing.ts';

const STATES: Record<CircuitState, ProviderHealth['circuit']> = {
  [CircuitState.Closed]: 'closed',
  [CircuitState.Open]: 'open',
  [CircuitState.HalfOpen]: 'half-open',
  [CircuitState.Isolated]: 'open',
};

/** Opens after consecutive failures or a long `Retry-After`; while half-open, one call goes through and others wait for its outcome. */
export class CircuitBreaker {
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
