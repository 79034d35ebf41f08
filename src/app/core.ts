import type { Context, VenueMarket } from '../context.ts';
import type { ReplayRange } from '../dev/replay.ts';
import { OracleError } from '../errors.ts';
import { MINUTE_MS } from '../forecast/day.ts';
import type { Feed } from '../market/feed.ts';
import type { LiveMarket } from '../market/live/live-market.ts';
import { parseProviderUrls } from '../market/live/providers.ts';
import { openLiveFeed, openLiveStores } from '../market/live/store.ts';
import { createMarket, type Market } from '../market/market.ts';
import { createCache } from '../platform/concurrency.ts';
import type { Database } from '../platform/mongo.ts';
import type { TrustedTime } from '../platform/time.ts';
import type { PaperVenue } from '../wager/paper-venue.ts';
import type { Venue } from '../wager/venue.ts';
import type { ComposedChain } from './chain.ts';
import type { Infrastructure, ProcessContext, StartupContext } from './infrastructure.ts';

export interface Venues extends Pick<Context, 'venue' | 'otherVenues'> {
  /** The paper venue, whatever the settings: only it quotes past days. */
  paper: PaperVenue;
}

/** The context with what only the start and its parts need. */
export interface ServiceCore extends StartupContext, ComposedChain, Venues, Context {
  /** The collector of live data; null with another feed, and where another process collects. */
  live: LiveMarket | null;
  infrastructure: Infrastructure;
  /** Points the on-chain identity to this service's address. The transaction carries the present time: not before a replay of the past. */
  announce(): Promise<void>;
  /** Range of a first replay; null where there is none. */
  range: ReplayRange | null;
  /** Why this feed was chosen, unless the settings name it. */
  feedReason: string | null;
}

/** Null: live data, which an API process reads and others also collect. @throws OracleError CONFIG_INVALID if Polymarket lacks live data */
export async function composeMarket(context: ProcessContext, db: Database['db'], feed: Feed | null, time: TrustedTime) {
  const { ROLE, WAGERS } = context.config;
  const live = feed === null && ROLE !== 'api' ? await loadLiveMarket(context, db, time) : null;
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

async function loadLiveMarket({ config, log, shutdown }: ProcessContext, db: Database['db'], time: TrustedTime): Promise<LiveMarket> {
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
    time,
    signal: shutdown.signal,
  });
}

const EAS_EXPLORER_URLS: Readonly<Record<number, string>> = {
  8453: 'https://base.easscan.org',
  84532: 'https://base-sepolia.easscan.org',
};

/** Base URL of the chain's EAS explorer, without a trailing slash; null for an unknown chain. */
export function getEasExplorerUrl(chainId: number): string | null {
  return EAS_EXPLORER_URLS[chainId] ?? null;
}

/** Strikes of the paper venue, quoted at most once a minute; those of other venues are in the market's snapshots. */
export function createOwnMarkets({ venue, paper }: Venues, now: () => Date): Context['venueMarkets'] {
  const quotes = createCache<VenueMarket[]>('venue-markets', 1);
  return async () => (venue === paper ? quotes.get(Math.floor(now().getTime() / MINUTE_MS), () => quoteMarkets(paper, now())) : []);
}

async function quoteMarkets(venue: Venue, at: Date): Promise<VenueMarket[]> {
  const markets = await venue.listMarkets(at);
  return Promise.all(markets.map(async (market) => ({ market, quote: await venue.getQuote(market, at) })));
}
