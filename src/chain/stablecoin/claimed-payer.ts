import type { Address } from 'viem';

export interface ClaimedPayer {
  wallet: Address;
  /** The wallet's key signed the payment; otherwise any client may have named the wallet. */
  isProven: boolean;
}
