import { OracleError } from '../../platform/errors.ts';
import { sleepOrShutdown } from '../sleep.ts';
import type { ClaimDoc } from './claim-store.ts';

const FIRST_PAUSE_MS = 10;
const MAX_PAUSE_MS = 100;
/** After it the lease may have expired, so the caller tries to acquire it. */
const MAX_WAIT_MS = 1_000;

/** Polls a claim under another process's lease until it is settled, deleted, released or under a new lease, for a second at most. @throws OracleError SHUTTING_DOWN */
export async function waitForClaimChange(readClaim: () => Promise<ClaimDoc | null>, before: ClaimDoc, signal: AbortSignal): Promise<void> {
  const deadline = performance.now() + MAX_WAIT_MS;
  for (let pauseMs = FIRST_PAUSE_MS; performance.now() < deadline; pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS)) {
    await sleepOrShutdown(pauseMs, signal);
    const claim = await readClaim();
    if (claim === null || claim.state === 'SETTLED' || claim.heldUntil.getTime() === 0 || claim.holder !== before.holder) return;
  }
}

export function paymentUnconfirmedError(cause?: unknown): OracleError {
  return new OracleError('TRANSACTION_UNCONFIRMED', 'The payment has been sent but is not confirmed yet', {
    suggestedAction: 'Repeat the request with the same payment: the answer is stored, and you are not charged twice.',
    retryAfterSeconds: 5,
    cause,
  });
}
