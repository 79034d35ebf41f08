import type { Db } from 'mongodb';
import type { Address, Hex } from 'viem';
import type { Log } from '../log.ts';
import type { Market } from '../market/market.ts';
import type { ModelStore } from '../record/models.ts';
import type { ForecastRecord } from '../record/record.ts';
import type { TrustedTime } from '../trusted-time.ts';
import { COMMITMENT_INDEXES, CommitmentStore } from './commitment-store.ts';
import { ROUND_INDEXES, RoundStore } from './round-store.ts';
import type { Deployment } from './typed-data.ts';

export const CONTEST_INDEXES = [...ROUND_INDEXES, ...COMMITMENT_INDEXES];

export interface ContestOptions {
  db: Db;
  record: ForecastRecord;
  models: ModelStore;
  market: Market;
  /** What signatures are bound to. */
  deployment: Deployment;
  /** Whether a wallet signed a hash: a key, or a contract that says so. @throws OracleError CHAIN_UNREACHABLE */
  isSignedBy(signed: { wallet: Address; hash: Hex; signature: Hex }): Promise<boolean>;
  /** Proves that rounds have closed, or are open. */
  time: Pick<TrustedTime, 'reach' | 'precede'>;
  now(): Date;
  log: Log;
}

/** What the contest works with. */
export interface ContestParts extends Omit<ContestOptions, 'db'> {
  rounds: RoundStore;
  commitments: CommitmentStore;
}

export function contestParts({ db, ...options }: ContestOptions): ContestParts {
  return { ...options, rounds: new RoundStore(db), commitments: new CommitmentStore(db) };
}
