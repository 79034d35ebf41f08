import type { Chain } from '../../chain/client.ts';
import { chainCall } from '../../chain/rpc-error.ts';
import { stablecoinAbi } from '../../chain/stablecoin.ts';
import type { Till } from '../till.ts';
import type { ClaimDoc, PaymentClaims } from './claims.ts';
import { refusal } from './payload.ts';
import type { Terms } from './terms.ts';

export interface FundsDeps {
  chain: Pick<Chain, 'client'>;
  till: Pick<Till, 'asset'>;
  claims: PaymentClaims;
}

/**
 * Each payment is verified by itself: a payer of several at once must hold the sum of them, or the answers of those that fail would be
 * known without a charge.
 * @throws PaymentRequiredError
 */
export async function requireFunds({ chain, till, claims }: FundsDeps, claim: ClaimDoc, terms: Terms): Promise<void> {
  const inFlight = await claims.amountInFlight(claim);
  if (inFlight === 0n) return;
  const call = { address: till.asset, abi: stablecoinAbi, functionName: 'balanceOf', args: [claim.payer] } as const;
  const balance = await chainCall('Reading the balance of a payer', () => chain.client.readContract(call));
  if (balance >= inFlight + BigInt(claim.amountMicros.toString())) return;
  throw refusal(terms, 'insufficient_balance', {
    message: 'The wallet holds less than this payment and those of it that are being settled take together',
    payer: claim.payer,
  });
}
