const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

/** Time between an attempt and the next one, as Standard Webhooks recommends; the first attempt is made at once. */
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

/** What a step gets longer by at most, so that receivers that were down together are not called together. */
export const RETRY_JITTER = 0.2;

/** A receiver that asks for more is called all the same. */
export const MAX_RECEIVER_RETRY_AFTER_MS = 24 * HOUR_MS;

/** When a receiver that has failed for so long, at every attempt, is not called any more. */
export const DISABLE_AFTER_FAILING_MS = 5 * 24 * HOUR_MS;

export interface FailedAttempt {
  /** Attempts made, this one included. */
  attempts: number;
  at: Date;
  /** What the receiver asked for. */
  retryAfterSeconds: number | null;
}

/**
 * When a delivery is tried again after a failure; null when its attempts are used up. A receiver may ask for more time, not for less.
 * @param random from 0 to below 1
 */
export function getNextAttemptAt({ attempts, at, retryAfterSeconds }: FailedAttempt, random: () => number): Date | null {
  const step = RETRY_DELAYS_MS[attempts - 1];
  if (step === undefined) return null;
  const asked = Math.min((retryAfterSeconds ?? 0) * SECOND_MS, MAX_RECEIVER_RETRY_AFTER_MS);
  return new Date(at.getTime() + Math.max(step, asked) + Math.floor(step * RETRY_JITTER * random()));
}
