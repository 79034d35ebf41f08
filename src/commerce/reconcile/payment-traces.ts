import type { Address, Hash } from 'viem';
import type { PurchaseStore } from '../purchases/purchase-store.ts';
import { buildClaimId, type PaymentClaimStore } from '../x402/claim-store.ts';
import type { Movement } from './movements.ts';

export interface PaymentTraces {
  /** What an unbooked movement paid for, as text; null when no request or purchase names it. */
  findReason(movement: Movement): Promise<string | null>;
}

export interface PaymentTraceDeps {
  chainId: number;
  claims: Pick<PaymentClaimStore, 'find'>;
  purchases: Pick<PurchaseStore, 'find'>;
}

export function createPaymentTraces({ chainId, claims, purchases }: PaymentTraceDeps): PaymentTraces {
  return {
    async findReason({ cause, asset, from, txHash }) {
      if (cause.kind === 'job') return `job ${cause.jobId} of ${cause.contract} has paid it`;
      if (cause.kind === 'transfer') return findPurchaseReason(purchases, txHash, from);
      const claim = await claims.find(buildClaimId({ chainId, asset, payer: from, nonce: cause.nonce }));
      return claim === null ? null : `it came with a request for ${claim.offering}`;
    },
  };
}

async function findPurchaseReason(purchases: PaymentTraceDeps['purchases'], txHash: Hash, from: Address): Promise<string | null> {
  const found = await purchases.find(txHash.toLowerCase() as Hash);
  return found === null || found.wallet !== from ? null : `it was shown for ${found.offering}`;
}
