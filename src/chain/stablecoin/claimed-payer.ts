import type { Address } from 'viem';

/** The wallet that a payment names as its payer. */
export interface ClaimedPayer {
  wallet: Address;
  /** The wallet's key signed the payment; otherwise any client may have named the wallet. */
  isProven: boolean;
}
