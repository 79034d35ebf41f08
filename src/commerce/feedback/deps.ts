import type { Address } from 'viem';
import type { Chain } from '../../chain/client.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { ClientFeedbackStore } from './client-feedback-store.ts';

export interface CollectFeedbackDeps {
  chain: Chain;
  agent: string;
  agentId: number;
  /** Its feedback is read elsewhere, as the operator's own. */
  reporter: Address;
  store: ClientFeedbackStore;
  ledger: Pick<Ledger, 'countPayments'>;
  /** First block to read, asked for once. */
  findFirstBlock(): Promise<number>;
}
