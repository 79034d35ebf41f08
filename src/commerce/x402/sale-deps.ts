import type { Chain } from '../../chain/client.ts';
import type { Log } from '../../log.ts';
import type { Ledger } from '../ledger.ts';
import type { RequireOpen } from '../opening.ts';
import type { SignReceipt } from '../receipt.ts';
import type { Till } from '../till.ts';
import type { PaymentClaims } from './claims.ts';
import type { Facilitator } from './facilitator.ts';
import type { FailedSettlements } from './failed-settlements.ts';

/** What selling answers works with. */
export interface SaleDeps {
  chain: Chain;
  till: Till;
  facilitator: Facilitator;
  claims: PaymentClaims;
  failures: FailedSettlements;
  ledger: Ledger;
  requireOpen: RequireOpen;
  signReceipt: SignReceipt;
  /** Aborted when the service stops. */
  signal: AbortSignal;
  log: Log;
  now(): Date;
  /** How long one request waits for a payment to be confirmed. */
  waitMs?: number;
}
