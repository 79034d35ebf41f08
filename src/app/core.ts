import type { Db } from 'mongodb';
import type { RegisteredAgent } from '../chain/erc8004/identity.ts';
import type { ReplayRange } from '../dev/replay.ts';
import type { Database } from '../platform/mongo.ts';
import type { TrustedTime } from '../platform/time/trusted-time.ts';
import type { ChampionLog } from '../record/challenge/champion-log.ts';
import type { DatasetService } from '../record/dataset/dataset-service.ts';
import type { FiguresStore } from '../record/figures/figures-store.ts';
import type { RecordFigures } from '../record/figures/record-figures.ts';
import type { ForecastRecord } from '../record/forecast-record.ts';
import type { ModelStore } from '../record/model-store.ts';
import type { TimestampStore } from '../record/timestamps/timestamp-store.ts';
import type { WagerBook } from '../wager/wager-book.ts';
import type { ComposedChain } from './chain.ts';
import type { Infrastructure } from './infrastructure.ts';
import type { ComposedMarket } from './pipeline/market.ts';

export interface ServiceCore extends Pick<ComposedChain, 'chain' | 'journal' | 'signers' | 'wallets'>, ComposedMarket {
  infrastructure: Infrastructure;
  database: Database;
  db: Db;
  saltSecret: string;
  encryptionSecret: string;
  record: ForecastRecord;
  models: ModelStore;
  figuresStore: FiguresStore;
  figures: RecordFigures;
  champions: ChampionLog;
  dataset: DatasetService;
  timestamps: TimestampStore;
  wagers: WagerBook;
  time: TrustedTime;
  now(): Date;
  /** Id in the ERC-8004 identity registry. */
  agentId: number;
  publicUrl: string;
  identity(): RegisteredAgent;
  /** Points the on-chain identity to this service's address. The transaction carries the present time: not before a replay of the past. */
  announce(): Promise<void>;
  /** Range of a first replay; null where there is none. */
  range: ReplayRange | null;
  /** Why this feed was chosen, unless the settings name it. */
  feedReason: string | null;
}
