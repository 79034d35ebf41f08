import type { ClaimSearchDeps } from './claim-search.ts';
import type { ClaimDoc } from './claim-store.ts';
import { type FreeEligibilityDeps, isEligibleForFreeAnswer } from './free-eligibility.ts';
import type { IncomingPayment, PreparedAnswer } from './paid-call.ts';
import { type PayerFundsDeps, requirePayerFunds } from './settlement/payer-funds.ts';
import { isAccepted, type Verification } from './verification.ts';

export type AnswerDeps = FreeEligibilityDeps & PayerFundsDeps & ClaimSearchDeps;

export interface ClaimToAnswer {
  claim: ClaimDoc;
  incoming: IncomingPayment;
  /** Called at once. */
  verify(): Promise<Verification>;
}

/**
 * Composes the answer of an open claim and stores it, once its payment is valid, or returns the body of a free answer and discards the
 * claim. A failure discards it, too. Null when the lease was lost.
 */
export async function answerClaim(
  deps: AnswerDeps,
  { claim, incoming, verify }: ClaimToAnswer,
): Promise<{ prepared: ClaimDoc } | Required<Pick<PreparedAnswer, 'freeBody'>> | null> {
  const { claims } = deps;
  const orDiscard = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      await claims.discard(claim);
      throw error;
    }
  };
  const { payer, verdict, firstVerdict } = await orDiscard(verify);
  const answer = await orDiscard(async () => {
    const funded = requirePayerFunds(deps, claim, incoming.quote);
    funded.catch(() => undefined);
    if (!(await isAccepted(deps, firstVerdict, { incoming, payer, claim }))) return null;
    await funded;
    return incoming.call.answer();
  });
  if (answer === null) return null;
  const isVerified = () => orDiscard(() => isAccepted(deps, verdict, { incoming, payer, claim }));
  const { body, freeBody, forecastId, attestationUid } = answer;
  if (freeBody !== undefined && (await orDiscard(() => isEligibleForFreeAnswer(deps, claim)))) {
    if (!(await isVerified())) return null;
    await claims.discard(claim);
    return { freeBody };
  }
  const prepared = await claims.prepare(claim, { answer: JSON.stringify(body), forecastId, attestationUid });
  return prepared !== null && (await isVerified()) ? { prepared } : null;
}
