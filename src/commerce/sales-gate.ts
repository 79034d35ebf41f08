import { OracleError } from '../platform/errors.ts';

/** Asked before terms are named and before a payment is looked at. @throws OracleError STEP_WAITING while nothing can be paid for */
export type RequireSalesOpen = () => void;

/** The replay is over within minutes. */
const RETRY_AFTER_SECONDS = 10;

/** Until history is replayed the clock of the chain is in the past: a payment that is good by any other clock is none there. */
export function createSalesGate(isReplayAhead: () => boolean): RequireSalesOpen {
  return () => {
    if (!isReplayAhead()) return;
    throw new OracleError('STEP_WAITING', 'History is being replayed: pay when it is done', {
      suggestedAction: 'Nothing was charged. GET /health says how far it is: send the same request once that is over.',
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    });
  };
}
