import type { Hex, LocalAccount } from 'viem';
import type { Chain } from '../client.ts';
import type { FeeSource } from './fees.ts';
import type { Journal } from './journal.ts';

/** What the parts of a wallet share. */
export interface WalletContext {
  chain: Chain;
  journal: Journal;
  role: string;
  account: LocalAccount;
  fees: FeeSource;
  /** Age of a signature after which an unmined transaction gets higher fees. */
  stuckAfterMs: number;
  /** How long one call of `send` waits. */
  timeoutMs: number;
  /** Pause between two attempts to get a transaction going. */
  recoveryIntervalMs: number;
  /** Wei per gas that is never exceeded. */
  feeCap: bigint;
  signal?: AbortSignal;
  /** See `WalletOptions`. */
  allowForeignTransactions?(afterBlock?: number): Promise<void>;
  /** Runs one after the other in this process. */
  runExclusive<T>(work: () => Promise<T>): Promise<T>;
  /** Nonces without a row of ours, and when they were first seen. */
  nonceGaps: Map<number, number>;
  /** By transaction hash: why the node refused it last. */
  nodeRejections: Map<Hex, string>;
}

/** A queue of one lane. */
export function createMutex(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const run = last.then(work, work);
    last = run.catch(() => {});
    return run;
  };
}
