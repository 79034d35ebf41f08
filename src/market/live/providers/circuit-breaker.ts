import {
  type CircuitBreakerPolicy,
  CircuitState as CockatielState,
  ConsecutiveBreaker,
  circuitBreaker,
  DelegateBackoff,
  handleAll,
} from 'cockatiel';
import type { CircuitState } from './provider.ts';
import type { ProviderTiming } from './provider-timing.ts';

const STATES: Record<CockatielState, CircuitState> = {
  [CockatielState.Closed]: 'closed',
  [CockatielState.Open]: 'open',
  [CockatielState.HalfOpen]: 'half-open',
  [CockatielState.Isolated]: 'open',
};

/**
 * Stops asking a provider that fails call after call, or that wants to be left alone: calls are refused until the circuit is half
 * open, then one is tried while others wait, and its outcome closes or opens the circuit again.
 */
export class CircuitBreaker {
  readonly #policy: CircuitBreakerPolicy;
  readonly #now: () => number;
  #retryAfterUntilMs = 0;
  #openUntilMs = 0;

  constructor(timing: ProviderTiming, now: () => number) {
    this.#now = now;
    const breaker = new ConsecutiveBreaker(timing.failuresToOpen);
    this.#policy = circuitBreaker(handleAll, {
      breaker: {
        state: breaker.state,
        success: () => breaker.success(),
        failure: () => breaker.failure() || this.#now() < this.#retryAfterUntilMs,
      },
      halfOpenAfter: new DelegateBackoff(() => this.#startOpenPeriod(timing.halfOpenAfterMs)),
    });
  }

  get state(): CircuitState {
    return STATES[this.#policy.state];
  }

  /** When the circuit that is open becomes half open (ms). */
  get openUntilMs(): number {
    return this.#openUntilMs;
  }

  /** @throws cockatiel's BrokenCircuitError while the circuit is open */
  execute<T>(run: () => Promise<T>): Promise<T> {
    return this.#policy.execute(run);
  }

  /** The call that is about to fail opens the circuit, for this long. */
  honorRetryAfter(ms: number): void {
    this.#retryAfterUntilMs = Math.max(this.#retryAfterUntilMs, this.#now() + ms);
  }

  #startOpenPeriod(usualMs: number): number {
    const askedMs = this.#retryAfterUntilMs - this.#now();
    const durationMs = askedMs > 0 ? askedMs : usualMs;
    this.#openUntilMs = this.#now() + durationMs;
    return durationMs;
  }
}
