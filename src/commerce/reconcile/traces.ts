import type { Address, Hash } from 'viem';
import type { PurchaseStore } from '../purchases/store.ts';
import { claimId, type PaymentClaims } from '../x402/claims.ts';
import type { Movement } from './movements.ts';

/** What else than the ledger knows of payments. */
export interface PaymentTraces {
  /** What an unbooked movement has paid for, in words; null when nobody has asked for anything with it. */
  of(movement: Movement): Promise<string | null>;
}

export interface TraceSources {
  chainId: number;
  claims: Pick<PaymentClaims, 'find'>;
  purchases: Pick<PurchaseStore, 'find'>;
}

/** By the requests that came with payments, and the purchases that named them; a job is always one of ours. */
export function paymentTraces({ chainId, claims, purchases }: TraceSources): PaymentTraces {
  return {
    async of({ cause, asset, from, txHash }) {
      if (cause.kind === 'job') return `job ${cause.jobId} of ${cause.contract} has paid it`;
      if (cause.kind === 'transfer') return ofPurchase(purchases, txHash, from);
      const claim = await claims.find(claimId({ chainId, asset, payer: from, nonce: cause.nonce }));
      return claim === null ? null : `it came with a request for ${claim.offering}`;
    },
  };
}

async function ofPurchase(purchases: TraceSources['purchases'], txHash: Hash, from: Address): Promise<string | null> {
  const found = await purchases.find(txHash.toLowerCase() as Hash);
  return found === null || found.wallet !== from ? null : `it was shown for ${found.offering}`;
}
