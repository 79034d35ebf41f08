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

/** What the provider of agent commerce jobs works with. */
export interface JobDeps {
  chain: Chain;
  /** The ERC-8183 contract whose jobs are taken. */
  contract: Address;
  /** The provider's. */
  wallet: Wallet;
  store: JobStore;
  deliverySlot: DeliverySlot;
  ledger: Ledger;
  policy: JobPolicy;
  /** What an offering delivers now. @throws OracleError STEP_WAITING and others while it cannot be composed: it is tried again */
  compose(offering: string, now: Date): Promise<ComposedDocument>;
  log: Log;
  time: Pick<TrustedTime, 'findDisagreement'>;
  now(): Date;
}
