import { OracleError } from '../../platform/errors.ts';
import { sleepOrShutdown } from '../sleep.ts';
import type { ClaimDoc } from './claim-store.ts';

const FIRST_PAUSE_MS = 10;
const MAX_PAUSE_MS = 100;
/** Then whoever works on the claim may be dead: it is time to try to take it up. */
const MAX_WAIT_MS = 1_000;

/** Waits a while for somebody else who works on a claim: until it is settled, gone, let go or in other hands. @throws OracleError SHUTTING_DOWN */
export async function waitForClaimChange(look: () => Promise<ClaimDoc | null>, before: ClaimDoc, signal: AbortSignal): Promise<void> {
  const deadline = Date.now() + MAX_WAIT_MS;
  for (let pauseMs = FIRST_PAUSE_MS; Date.now() < deadline; pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS)) {
    await sleepOrShutdown(pauseMs, signal);
    const claim = await look();
    if (claim === null || claim.state === 'SETTLED' || claim.heldUntil.getTime() === 0 || claim.holder !== before.holder) return;
  }
}

/** It is not known yet what became of a payment. */
export function paymentUnconfirmedError(cause?: unknown): OracleError {
  return new OracleError('TRANSACTION_UNCONFIRMED', 'The payment is on its way, but not confirmed yet', {
    suggestedAction: 'Send the same request with the same payment again: the answer is kept, and nothing is charged twice.',
    retryAfterSeconds: 5,
    cause,
  });
}
