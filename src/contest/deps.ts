import type { Db } from 'mongodb';
import type { Address, Hex } from 'viem';
import type { Market } from '../market/market.ts';
import type { Log } from '../platform/log.ts';
import type { TrustedTime } from '../platform/time/trusted-time.ts';
import type { ForecastRecord } from '../record/forecast-record.ts';
import type { ModelStore } from '../record/model-store.ts';
import { ENTRANT_INDEXES, EntrantStore } from './commitments/entrants.ts';
import { COMMITMENT_INDEXES, CommitmentStore } from './commitments/store.ts';
import type { ContestDeployment } from './commitments/typed-data.ts';
import { ROUND_INDEXES, RoundStore } from './rounds/store.ts';
import { ContestFigures } from './scoring/contest-figures.ts';

export const CONTEST_INDEXES = [...ROUND_INDEXES, ...COMMITMENT_INDEXES, ...ENTRANT_INDEXES];

export interface ContestOptions {
  db: Db;
  record: ForecastRecord;
  models: ModelStore;
  market: Market;
  deployment: ContestDeployment;
  /** Verifies a signature of an EOA or a contract wallet (ERC-1271). @throws OracleError CHAIN_UNREACHABLE */
  isSignedBy(signed: { wallet: Address; hash: Hex; signature: Hex }): Promise<boolean>;
  /** Whether a wallet holds the gate tokens of a tier. @throws OracleError CHAIN_UNREACHABLE */
  isHolder(wallet: Address): Promise<boolean>;
  time: Pick<TrustedTime, 'requireReached' | 'proveUnreached'>;
  now(): Date;
  log: Log;
}

export interface ContestDeps extends Omit<ContestOptions, 'db'> {
  rounds: RoundStore;
  commitments: CommitmentStore;
  entrants: EntrantStore;
  figures: ContestFigures;
}

export function createContestDeps({ db, ...options }: ContestOptions): ContestDeps {
  const stores = { rounds: new RoundStore(db), commitments: new CommitmentStore(db), entrants: new EntrantStore(db) };
  return { ...options, ...stores, figures: new ContestFigures(db, stores) };
}
