import type { Address } from 'viem';
import type { Chain } from '../../../chain/client.ts';
import type { Wallet } from '../../../chain/tx/wallet.ts';
import type { Log } from '../../../platform/log.ts';
import type { TrustedTime } from '../../../platform/time/trusted-time.ts';
import type { ComposedDocument } from '../../documents/compose.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { DeliverySlot } from '../delivery-slot.ts';
import type { JobPolicy } from '../job-policy.ts';
import type { JobStore } from '../job-store.ts';

export interface JobDeps {
  chain: Chain;
  contract: Address;
  wallet: Wallet;
  store: JobStore;
  deliverySlot: DeliverySlot;
  ledger: Ledger;
  policy: JobPolicy;
  /** Composes the document of an offering. @throws OracleError, e.g. STEP_WAITING; retried */
  compose(offering: string, now: Date): Promise<ComposedDocument>;
  log: Log;
  time: Pick<TrustedTime, 'findDisagreement'>;
  now(): Date;
}
