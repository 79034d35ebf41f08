import type { Db } from 'mongodb';
import type { RegisteredAgent } from '../chain/erc8004.ts';
import type { ReplayRange } from '../dev/replay.ts';
import { OracleError } from '../errors.ts';
import type { Feed } from '../market/feed.ts';
import type { LiveMarket } from '../market/live/live-market.ts';
import { parseProviderUrls } from '../market/live/providers.ts';
import { openLiveFeed, openLiveStores } from '../market/live/store.ts';
import { createMarket, type Market } from '../market/market.ts';
import type { Database } from '../platform/mongo.ts';
import type { TrustedTime } from '../platform/time.ts';
import type { ChampionLog } from '../record/challenge.ts';
import type { DatasetService } from '../record/dataset.ts';
import type { RecordFigures } from '../record/figures.ts';
import type { ForecastRecord } from '../record/forecasts.ts';
import type { ModelStore } from '../record/model-card.ts';
import type { WagerBook } from '../wager/wagers.ts';
import type { ComposedChain } from './chain.ts';
import type { Infrastructure, ProcessContext, StartupContext } from './infrastructure.ts';

export interface ServiceCore extends StartupContext, ComposedChain {
  market: Market;
  /** The collector of live data; null with another feed, and where another process collects. */
  live: LiveMarket | null;
  infrastructure: Infrastructure;
  database: Database;
  db: Db;
  saltSecret: string;
  encryptionSecret: string;
  record: ForecastRecord;
  models: ModelStore;
  figures: RecordFigures;
  champions: ChampionLog;
  dataset: DatasetService;
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

/** Null: live data, which an API process reads and others also collect. @throws OracleError CONFIG_INVALID if Polymarket lacks live data */
export async function composeMarket(context: ProcessContext, db: Database['db'], feed: Feed | null) {
  const { ROLE, WAGERS } = context.config;
  const live = feed === null && ROLE !== 'api' ? await loadLiveMarket(context, db) : null;
  const market = feed === null ? openLiveReader(db, live) : createMarket(feed);
  // Only live data contains Polymarket's strikes.
  if (WAGERS === 'polymarket' && market.kind !== 'live')
    throw new OracleError('CONFIG_INVALID', `Setting WAGERS: polymarket needs live market data, not ${market.source}`, {
      field: 'WAGERS',
      suggestedAction: 'Set FEEDS=live, or WAGERS=paper.',
    });
  return { market, live };
}

function openLiveReader(db: Database['db'], live: LiveMarket | null): Market {
  const stores = live?.stores ?? openLiveStores(db, Date.now);
  return createMarket(live?.feed ?? openLiveFeed(stores), { pinClose: (close) => stores.closes.pin(close) });
}

async function loadLiveMarket({ config, log, shutdown }: ProcessContext, db: Database['db']): Promise<LiveMarket> {
  // Imported on demand: an API process saves the memory.
  const { openLiveMarket } = await import('../market/live/live-market.ts');
  return openLiveMarket({
    db,
    urls: parseProviderUrls(config.PROVIDER_URLS ?? ''),
    sosovalueKey: config.SOSOVALUE_API_KEY,
    // The longest horizon looks a week back, and venues have gaps.
    venueDays: config.REPLAY_DAYS + 14,
    log,
    now: Date.now,
    signal: shutdown.signal,
  });
}
