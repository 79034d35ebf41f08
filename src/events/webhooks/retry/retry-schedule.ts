const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

/** Delays between attempts, as Standard Webhooks recommends; the first attempt has none. */
export const RETRY_DELAYS_MS = [
  5 * SECOND_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  14 * HOUR_MS,
  20 * HOUR_MS,
  24 * HOUR_MS,
] as const;

export const MAX_DELIVERY_ATTEMPTS = RETRY_DELAYS_MS.length + 1;
/** Maximum relative jitter: spreads the retries of receivers that failed together. */
export const RETRY_JITTER = 0.2;
/** A longer `Retry-After` is capped. */
export const MAX_RECEIVER_RETRY_AFTER_MS = 24 * HOUR_MS;
export const DISABLE_AFTER_FAILING_MS = 5 * 24 * HOUR_MS;

export interface FailedAttempt {
  attempts: number;
  at: Date;
  retryAfterSeconds: number | null;
}

/** Null if none is left. A receiver may request a longer delay, not a shorter one. @param random from 0 to below 1 */
export function getNextAttemptAt({ attempts, at, retryAfterSeconds }: FailedAttempt, random: () => number): Date | null {
  const step = RETRY_DELAYS_MS[attempts - 1];
  if (step === undefined) return null;
  const asked = Math.min((retryAfterSeconds ?? 0) * SECOND_MS, MAX_RECEIVER_RETRY_AFTER_MS);
  return new Date(at.getTime() + Math.max(step, asked) + Math.floor(step * RETRY_JITTER * random()));
}
