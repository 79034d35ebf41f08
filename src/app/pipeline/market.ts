import type { MarketArchive } from '../../market/archive/open-archive.ts';
import type { Feed } from '../../market/feed.ts';
import { openLiveFeed } from '../../market/live/feed.ts';
import type { LiveMarket } from '../../market/live/live-market.ts';
import { parseProviderUrls } from '../../market/live/providers/provider-urls.ts';
import { openLiveStores } from '../../market/live/store/live-stores.ts';
import { createMarket, type Market } from '../../market/market.ts';
import { OracleError } from '../../platform/errors.ts';
import type { Database } from '../../platform/mongo.ts';
import type { ProcessContext } from '../process-context.ts';

/** A record on a real chain is permanent: no simulated data enters it. */
export function simulatedOnRealChainError(): OracleError {
  return new OracleError('CONFIG_INVALID', 'Setting FEEDS: simulated data is refused on a real chain', {
    field: 'FEEDS',
    suggestedAction: 'Set FEEDS to real data, or unset CHAIN_RPC_URL to try the service on a local chain.',
  });
}

export interface ComposedMarket {
  market: Market;
  /** The collector of live data; null with another feed, and where another process collects. */
  live: LiveMarket | null;
  /** The collector of data for later models, where there is one of live data. */
  archive: MarketArchive | null;
}

/** Null: live data, which an API process reads and others also collect. @throws OracleError CONFIG_INVALID if Polymarket lacks live data */
export async function composeMarket(context: ProcessContext, db: Database['db'], feed: Feed | null): Promise<ComposedMarket> {
  const { ROLE, WAGERS } = context.config;
  const live = feed === null && ROLE !== 'api' ? await loadLiveMarket(context, db) : null;
  const market = feed === null ? openLiveReader(db, live) : createMarket(feed);
  if (WAGERS === 'polymarket' && market.kind !== 'live') throw polymarketNeedsLiveError(market.source);
  return { market, live, archive: live === null ? null : await loadArchive(context, db) };
}

/** Only live data contains Polymarket's strikes. */
function polymarketNeedsLiveError(source: string): OracleError {
  return new OracleError('CONFIG_INVALID', `Setting WAGERS: polymarket needs live market data, not ${source}`, {
    field: 'WAGERS',
    suggestedAction: 'Set FEEDS=live, or WAGERS=paper.',
  });
}

function openLiveReader(db: Database['db'], live: LiveMarket | null): Market {
  const stores = live?.stores ?? openLiveStores(db, Date.now);
  return createMarket(live?.feed ?? openLiveFeed(stores), { pinClose: (close) => stores.closes.pin(close) });
}

async function loadLiveMarket({ config, log, shutdown }: ProcessContext, db: Database['db']): Promise<LiveMarket> {
  // Imported on demand: an API process saves the memory.
  const { openLiveMarket } = await import('../../market/live/live-market.ts');
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

async function loadArchive({ config, log, shutdown }: ProcessContext, db: Database['db']): Promise<MarketArchive> {
  const { openMarketArchive } = await import('../../market/archive/open-archive.ts');
  return openMarketArchive({
    db,
    urls: parseProviderUrls(config.PROVIDER_URLS ?? ''),
    calendarFile: config.EVENT_CALENDAR ?? null,
    log,
    now: Date.now,
    signal: shutdown.signal,
  });
}
