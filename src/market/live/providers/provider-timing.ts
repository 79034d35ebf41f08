/** How patient we are with a provider. */
export interface ProviderTiming {
  attemptTimeoutMs: number;
  /** Attempts of one call, the first included. */
  attempts: number;
  /** Shortest and longest wait between two attempts. */
  backoffMinMs: number;
  backoffMaxMs: number;
  /** A provider that wants to be left alone for longer than this is, for as long as it wants. */
  maxRetryAfterMs: number;
  /** Consecutive failed calls that open the circuit. */
  failuresToOpen: number;
  halfOpenAfterMs: number;
  /** Least time between two attempts; null for what each provider publishes. */
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

/** Wait before attempt `retry + 1` (ms): anywhere between the shortest wait and a bound that doubles twice with every retry. */
export function computeBackoffMs(
  { backoffMinMs, backoffMaxMs }: ProviderTiming,
  retry: number,
  random: () => number = Math.random,
): number {
  const bound = Math.min(backoffMaxMs, backoffMinMs * 4 ** retry);
  return backoffMinMs + random() * (bound - backoffMinMs);
}
