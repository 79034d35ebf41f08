import type { Address } from 'viem';
import type { Chain } from '../../../chain/client.ts';
import type { ClaimedPayer } from '../../../chain/stablecoin/claimed-payer.ts';
import type { ParsedPayment } from '../protocol/payment-payload.ts';
import type { PaymentRequirements } from '../protocol/payment-quote.ts';
import { encodeSettlement } from './authorization-signature.ts';
import { MAX_SETTLEMENT_GAS } from './gas-budget.ts';

export interface PayableQuery {
  payment: ParsedPayment;
  requirements: PaymentRequirements;
  payer: Promise<ClaimedPayer>;
}

/**
 * Whether the payer's key signed the payment and its settlement succeeds in a simulation on the pending block. False also for an account
 * with code, which may accept a signature in simulations only, and when the node does not answer: neither is a reason to reject.
 */
export async function isPayable({ client }: Pick<Chain, 'client'>, { payment, requirements, payer }: PayableQuery): Promise<boolean> {
  const { wallet, isProven } = await payer;
  if (!isProven) return false;
  const call = {
    to: requirements.asset as Address,
    data: encodeSettlement(payment),
    gas: MAX_SETTLEMENT_GAS,
    blockTag: 'pending',
  } as const;
  const simulated = Promise.all([client.getCode({ address: wallet }), client.call(call)]);
  return simulated.then(
    ([code]) => code === undefined || code === '0x',
    () => false,
  );
}
