import type { Chain } from '../../chain/client.ts';
import type { Log } from '../../platform/log.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { MerchantConfig } from '../merchant-config.ts';
import type { SignReceipt } from '../receipts/receipt.ts';
import type { RequireSalesOpen } from '../sales-gate.ts';
import type { PaymentClaimStore } from './claim-store.ts';
import type { FailedSettlementStore } from './failed-settlements.ts';
import type { Facilitator } from './settlement/facilitator.ts';

/** What selling answers works with. */
export interface SalesDeps {
  chain: Chain;
  merchant: MerchantConfig;
  facilitator: Facilitator;
  claims: PaymentClaimStore;
  failures: FailedSettlementStore;
  ledger: Ledger;
  requireOpen: RequireSalesOpen;
  signReceipt: SignReceipt;
  /** Aborted when the service stops. */
  signal: AbortSignal;
  log: Log;
  now(): Date;
  /** How long one request waits for a payment to be confirmed. */
  waitMs?: number;
}
