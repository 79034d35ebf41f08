import type { Address, Hash } from 'viem';
import { toLowerCaseAddress } from '../../chain/addresses.ts';

/** Path of the feedback file of a payment, without the rating. A transaction may carry payments of several payers. */
export function buildPaymentFeedbackPath({ txHash, payer }: { txHash: Hash; payer: Address }): string {
  return `/api/svc/agent/feedback/payments/${txHash.toLowerCase()}/${toLowerCaseAddress(payer)}`;
}
