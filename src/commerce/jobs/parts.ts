import type { Address } from 'viem';
import type { Chain } from '../../chain/client.ts';
import type { Wallet } from '../../chain/wallet.ts';
import type { Log } from '../../log.ts';
import type { TrustedTime } from '../../trusted-time.ts';
import type { ComposedDocument } from '../documents/compose.ts';
import type { Ledger } from '../ledger.ts';
import type { JobStore } from './job-store.ts';
import type { JobPolicy } from './policy.ts';
import type { JobTurns } from './turns.ts';

/** What the provider of agent commerce jobs works with. */
export interface JobParts {
  chain: Chain;
  /** The ERC-8183 contract whose jobs are taken. */
  contract: Address;
  /** The provider's. */
  wallet: Wallet;
  store: JobStore;
  turns: JobTurns;
  ledger: Ledger;
  policy: JobPolicy;
  /** What an offering delivers now. @throws OracleError STEP_WAITING and others while it cannot be composed: it is tried again */
  compose(offering: string, now: Date): Promise<ComposedDocument>;
  log: Log;
  time: Pick<TrustedTime, 'disagreement'>;
  now(): Date;
}
