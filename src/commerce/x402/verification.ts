import type { Chain } from '../../chain/client.ts';
import type { ClaimedPayer } from '../../chain/stablecoin/claimed-payer.ts';
import type { IdentifyPayer } from './admission.ts';
import { type ClaimSearchDeps, findClaim } from './claim-search.ts';
import type { ClaimDoc } from './claim-store.ts';
import type { IncomingPayment } from './paid-call.ts';
import { createPaymentRejection } from './protocol/payment-payload.ts';
import type { Facilitator } from './settlement/facilitator.ts';
import { isPayable } from './settlement/payable.ts';

/** Reason of a rejection; null for a valid payment. */
type Verdict = Promise<string | null>;

export interface Verification {
  payer: Promise<ClaimedPayer>;
  /** Of the facilitator: without it no answer is delivered, and no payment is sent. */
  verdict: Verdict;
  /** Of the chain or the facilitator, whichever accepts first: then the answer may be composed and stored. */
  firstVerdict: Verdict;
}

export interface VerificationDeps {
  chain: Pick<Chain, 'client'>;
  facilitator: Facilitator;
}

export function startVerification(deps: VerificationDeps, incoming: IncomingPayment, identify: IdentifyPayer): Verification {
  const { chain, facilitator } = deps;
  const { call, payment, quote } = incoming;
  const { requirements } = quote;
  const payer = identify();
  const verdict = facilitator.verify(payment, requirements, { payer, address: call.address });
  const acceptOnChain = async () => ((await isPayable(chain, { payment, requirements, payer })) ? null : verdict);
  const firstVerdict = facilitator.simulatesSettlement ? verdict : Promise.race([verdict, acceptOnChain()]);
  // A verdict is not awaited when an earlier step fails.
  for (const promise of [verdict, firstVerdict]) promise.catch(() => undefined);
  return { payer, verdict, firstVerdict };
}

export interface VerdictContext {
  incoming: IncomingPayment;
  payer: Promise<ClaimedPayer>;
  /** The request's own claim, if it has one. */
  claim?: ClaimDoc;
}

/** False when a payment is rejected because another request may have sent it. @throws PaymentRequiredError for any other rejection */
export async function isAccepted(deps: ClaimSearchDeps, verdict: Verdict, { incoming, payer, claim }: VerdictContext): Promise<boolean> {
  const refused = await verdict;
  if (refused === null) return true;
  const { call, payment, quote } = incoming;
  const known = await findClaim(deps, payment);
  if (known !== null && known.state !== 'OPEN' && known.holder !== claim?.holder) return false;
  await call.countRejection(await payer);
  throw createPaymentRejection(quote, refused, { payer: payment.authorization.from });
}
