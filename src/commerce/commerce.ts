import type { Address } from 'viem';
import type { SignedHash } from '../chain/verify-signature.ts';
import { CHANNELS, type Channel, type ClosedChannels } from './channels.ts';
import type { Ledger } from './ledger/ledger.ts';
import type { MerchantConfig } from './merchant-config.ts';
import type { SignatureRule } from './purchases/buyer-check.ts';
import type { SignReceipt } from './receipts/receipt.ts';
import type { RequireSalesOpen } from './sales-gate.ts';
import type { SalesService } from './x402/sales-service.ts';

/** What is sold, to whom it is paid, and what has been earned. */
export interface Commerce {
  ledger: Ledger;
  merchant: MerchantConfig;
  signReceipt: SignReceipt;
  /** The wallet that signs them. */
  receiptSigner: Address;
  /** What is paid for with the request itself. */
  sales: SalesService;
  /** Somebody else's facilitator of x402; null where payments are settled in this process. */
  facilitatorUrl: string | null;
  /** Whether a wallet signed a hash. @throws OracleError CHAIN_UNREACHABLE */
  isSignedBy(signed: SignedHash): Promise<boolean>;
  /** Whether a HOLD costs nothing at `GET /oracle`. */
  freeHold: boolean;
  /** Whether a purchase needs the signature of the wallet that paid. */
  purchaseSignatures: SignatureRule;
  closed: ClosedChannels;
  requireOpen: RequireSalesOpen;
}

/** Whether a channel takes money, and if not why. */
export interface ChannelState {
  channel: Channel;
  open: boolean;
  /** Null when open. */
  reason: string | null;
}

/** All channels, those that are closed with the reason. */
export function listChannelStates({ closed }: Pick<Commerce, 'closed'>): ChannelState[] {
  return CHANNELS.map((channel) => {
    const reason = closed[channel] ?? null;
    return { channel, open: reason === null, reason };
  });
}
