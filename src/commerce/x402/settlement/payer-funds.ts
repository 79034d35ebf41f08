import type { Chain } from '../../../chain/client.ts';
import { chainCall } from '../../../chain/rpc/chain-call.ts';
import { stablecoinAbi } from '../../../chain/stablecoin/stablecoin.ts';
import type { MerchantConfig } from '../../merchant-config.ts';
import type { ClaimDoc, PaymentClaimStore } from '../claim-store.ts';
import { createPaymentRejection } from '../protocol/payment-payload.ts';
import type { PaymentQuote } from '../protocol/payment-quote.ts';

export interface PayerFundsDeps {
  chain: Pick<Chain, 'client'>;
  merchant: Pick<MerchantConfig, 'asset'>;
  claims: PaymentClaimStore;
}

/** Requires a balance for all concurrent payments of the payer: each is verified by itself, and the others could fail. */
export async function requirePayerFunds({ chain, merchant, claims }: PayerFundsDeps, claim: ClaimDoc, quote: PaymentQuote): Promise<void> {
  const inFlight = await claims.sumInFlight(claim);
  if (inFlight === 0n) return;
  const call = { address: merchant.asset, abi: stablecoinAbi, functionName: 'balanceOf', args: [claim.payer] } as const;
  const balance = await chainCall('Reading the balance of a payer', () => chain.client.readContract(call));
  if (balance >= inFlight + BigInt(claim.amountMicros.toString())) return;
  throw createPaymentRejection(quote, 'insufficient_balance', {
    message: 'The wallet balance is below the sum of this payment and its payments in settlement',
    payer: claim.payer,
  });
}
