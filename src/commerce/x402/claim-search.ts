import type { MerchantConfig } from '../merchant-config.ts';
import { buildClaimId, type ClaimDoc, type PaymentClaimStore } from './claim-store.ts';
import type { Authorization, ParsedPayment } from './protocol/payment-payload.ts';

export interface ClaimSearchDeps {
  claims: PaymentClaimStore;
  merchant: Pick<MerchantConfig, 'chainId' | 'asset'>;
}

/** `_id` of the claim on an authorization. */
export function getClaimId({ chainId, asset }: ClaimSearchDeps['merchant'], { from, nonce }: Authorization): string {
  return buildClaimId({ chainId, asset, payer: from, nonce });
}

/** The claim on a payment, or the one that has its payment identifier. */
export async function findClaim(
  { claims, merchant }: ClaimSearchDeps,
  { authorization, paymentId }: ParsedPayment,
): Promise<ClaimDoc | null> {
  const claim = await claims.find(getClaimId(merchant, authorization));
  return claim ?? (paymentId === null ? null : claims.findByPaymentId(authorization.from, paymentId));
}
