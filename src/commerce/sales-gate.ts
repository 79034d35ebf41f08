import { OracleError } from '../platform/errors.ts';

/** Called before a quote is issued or a payment is processed. @throws OracleError STEP_WAITING while sales are closed */
export type RequireSalesOpen = () => void;

const RETRY_AFTER_SECONDS = 10;

/** Closes sales during the replay of history: the chain's clock is then in the past, where current authorizations are not valid yet. */
export function createSalesGate(isReplayAhead: () => boolean): RequireSalesOpen {
  return () => {
    if (!isReplayAhead()) return;
    throw new OracleError('STEP_WAITING', 'History is being replayed: pay when it is done', {
      suggestedAction: 'Nothing was charged. Repeat the request after the replay; GET /health reports its progress.',
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    });
  };
}
