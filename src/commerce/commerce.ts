import type { Address } from 'viem';
import type { SignedHash } from '../chain/verify-signature.ts';
import { CHANNELS, type Channel, type ClosedChannels } from './channels.ts';
import type { Ledger } from './ledger/ledger.ts';
import type { MerchantConfig } from './merchant-config.ts';
import type { SignatureRule } from './purchases/buyer-check.ts';
import type { SignReceipt } from './receipts/receipt.ts';
import type { RequireSalesOpen } from './sales-gate.ts';
import type { SalesService } from './x402/sales-service.ts';

export interface Commerce {
  ledger: Ledger;
  merchant: MerchantConfig;
  signReceipt: SignReceipt;
  receiptSigner: Address;
  sales: SalesService;
  /** Remote x402 facilitator; null when this process settles payments. */
  facilitatorUrl: string | null;
  /** Whether a wallet signed a hash. @throws OracleError CHAIN_UNREACHABLE */
  isSignedBy(signed: SignedHash): Promise<boolean>;
  freeHold: boolean;
  purchaseSignatures: SignatureRule;
  closed: ClosedChannels;
  requireOpen: RequireSalesOpen;
}

export interface ChannelState {
  channel: Channel;
  open: boolean;
  /** Null when open. */
  reason: string | null;
}

export function listChannelStates({ closed }: Pick<Commerce, 'closed'>): ChannelState[] {
  return CHANNELS.map((channel) => {
    const reason = closed[channel] ?? null;
    return { channel, open: reason === null, reason };
  });
}
