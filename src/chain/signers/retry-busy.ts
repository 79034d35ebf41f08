import { ExponentialBackoff, handleType, retry } from 'cockatiel';

/** The signer throttles, or fails by itself: HTTP status 429 or 5xx. The same request may succeed in a moment. */
export class SignerBusy extends Error {
  override readonly name = 'SignerBusy';
}

/** A request of a signer ends after it. With the repetitions of `retryBusy` the longest signature takes about 13 s. */
export const SIGNER_TIMEOUT_MS = 4_000;

const policy = retry(handleType(SignerBusy), { maxAttempts: 2, backoff: new ExponentialBackoff({ initialDelay: 100, maxDelay: 1_000 }) });

/** Repeats a request twice after `SignerBusy`. Other failures, time-outs too, are left to the caller, whose step is repeated as a whole. */
export function retryBusy<T>(request: () => Promise<T>): Promise<T> {
  return policy.execute(request);
}
