export interface ProviderTiming {
  attemptTimeoutMs: number;
  /** Attempts per call, the first included. */
  attempts: number;
  backoffMinMs: number;
  backoffMaxMs: number;
  /** A longer `Retry-After` opens the circuit for its duration instead of delaying the retry. */
  maxRetryAfterMs: number;
  /** Consecutive failed calls that open the circuit. */
  failuresToOpen: number;
  halfOpenAfterMs: number;
  /** Minimum interval between attempts; null: the published limit of each provider. */
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

/** Wait before attempt `retry + 1` (ms): uniform jitter up to an exponential bound with factor 4. */
export function computeBackoffMs({ backoffMinMs, backoffMaxMs }: ProviderTiming, retry: number, random = Math.random): number {
  const bound = Math.min(backoffMaxMs, backoffMinMs * 4 ** retry);
  return backoffMinMs + random() * (bound - backoffMinMs);
}
