import type { Hex, LocalAccount } from 'viem';
import type { Chain } from '../client.ts';
import type { FeeSource } from './fees.ts';
import type { Journal } from './journal.ts';

export interface WalletContext {
  chain: Chain;
  journal: Journal;
  role: string;
  account: LocalAccount;
  fees: FeeSource;
  /** Age of a signature after which an unmined transaction is replaced at higher fees. */
  stuckAfterMs: number;
  timeoutMs: number;
  recoveryIntervalMs: number;
  feeCap: bigint;
  signal?: AbortSignal;
  /** Called before the wallet signs after a transaction, above `afterBlock`, that the journal does not have; throws to forbid it. */
  allowForeignTransactions?(afterBlock?: number): Promise<void>;
  runExclusive<T>(work: () => Promise<T>): Promise<T>;
  /** Nonces without a journal row, and when each was first seen. */
  nonceGaps: Map<number, number>;
  nodeRejections: Map<Hex, string>;
}
