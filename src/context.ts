import type { Db } from 'mongodb';
import type { Caller } from './auth/caller.ts';
import type { Chain } from './chain/client.ts';
import type { AttestationReader } from './chain/eas/schemas.ts';
import type { RegisteredAgent } from './chain/erc8004.ts';
import type { Journal } from './chain/journal.ts';
import type { Wallet, WalletRole } from './chain/wallet.ts';
import type { Market } from './market/market.ts';
import type { Log } from './platform/log.ts';
import type { Database } from './platform/mongo.ts';
import type { Shutdown } from './platform/shutdown.ts';
import type { TrustedTime } from './platform/time.ts';
import type { ChampionLog } from './record/challenge.ts';
import type { CrowdFigures } from './record/crowd.ts';
import type { DatasetService } from './record/dataset.ts';
import type { RecordFigures } from './record/figures.ts';
import type { ForecastRecord } from './record/forecasts.ts';
import type { ModelStore } from './record/model-card.ts';
import type { AttestationViewOptions } from './record/visibility.ts';
import type { Config } from './settings.ts';
import type { Quote, StrikeMarket, Venue } from './wager/venue.ts';
import type { WagerBook } from './wager/wagers.ts';

/** What travels everywhere: made once by `src/app`, passed whole. */
export interface Context {
  config: Config;
  log: Log;
  shutdown: Shutdown;
  now(): Date;
  /** What database and chain agree on; `now` alone proves nothing. */
  time: TrustedTime;
  database: Database;
  db: Db;
  saltSecret: string;
  encryptionSecret: string;
  publicUrl: string;
  chain: Chain;
  journal: Journal;
  /** `facilitator` settles payments; null with a remote facilitator. */
  wallets: Record<Exclude<WalletRole, 'facilitator'>, Wallet> & { facilitator: Wallet | null };
  attestations: AttestationReader;
  /** EAS explorer; null on a local chain, and where none is known. */
  explorerUrl: string | null;
  /** Id in the ERC-8004 identity registry. */
  agentId: number;
  identity(): RegisteredAgent;
  record: ForecastRecord;
  models: ModelStore;
  figures: RecordFigures;
  champions: ChampionLog;
  dataset: DatasetService;
  market: Market;
  wagers: WagerBook;
  venue: Venue;
  /** Venues of other settings, where older wagers may be open. */
  otherVenues: readonly Venue[];
  crowd: CrowdFigures;
  /** Strikes with quotes of the service's own venue; empty for an external venue. */
  venueMarkets(): Promise<VenueMarket[]>;
  /** What a caller may read of unresolved forecasts. */
  viewFor(caller: Caller): AttestationViewOptions;
}

export interface VenueMarket {
  market: StrikeMarket;
  quote: Quote;
}
