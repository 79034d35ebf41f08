import { basename, join, resolve } from 'node:path';
import type { AuditPrices } from '../../audit/prices/audit-prices.ts';
import { CANDLE_VENUES, type CandleVenue, livePrices } from '../../audit/prices/live-prices.ts';
import type { Day } from '../../forecast/day.ts';
import { openCsvFeed } from '../../market/csv/feed.ts';
import type { Feed } from '../../market/feed.ts';
import { getBaseUrl, type ProviderUrls, parseProviderUrls } from '../../market/live/providers/provider-urls.ts';
import { PROVIDER_IDS } from '../../market/live/providers/providers.ts';
import { createMarket } from '../../market/market.ts';
import { openSimulatedFeed } from '../../market/simulated/feed.ts';
import { OracleError, orElse } from '../../platform/errors.ts';

interface PriceOptions {
  feeds: string;
  providerUrls?: string;
  /** Unset: 0 for simulated and CSV prices, 100 for live ones. */
  toleranceBps?: number;
  now: Date;
}

const LIVE_TOLERANCE_BPS = 100;

/** @throws OracleError CONFIG_INVALID, FEED_INVALID */
export async function openRecordPrices(source: string, options: PriceOptions): Promise<AuditPrices> {
  const { feeds, providerUrls = '', toleranceBps, now } = options;
  const [, seed] = /^simulated \(seed (\d+)\)$/.exec(source) ?? [];
  if (seed !== undefined) return createFeedPrices(openSimulatedFeed({ seed: Number(seed) }), { now, toleranceBps });
  if (source.startsWith('csv:')) return createFeedPrices(await openCsvFeed(getCsvFolder(source, feeds)), { now, toleranceBps });
  return livePrices({ toleranceBps: toleranceBps ?? LIVE_TOLERANCE_BPS, now }, buildVenues(parseProviderUrls(providerUrls)));
}

function buildVenues(urls: ProviderUrls): CandleVenue[] {
  return CANDLE_VENUES.map((venue) => {
    const id = PROVIDER_IDS.find((provider) => provider === venue.name.toLowerCase());
    return id === undefined ? venue : { ...venue, baseUrl: getBaseUrl(urls, id) };
  });
}

/** A record contains the name of its CSV folder, not the path. */
function getCsvFolder(source: string, feeds: string): string {
  const folder = feeds.startsWith('csv:') ? feeds.slice('csv:'.length).trim() : '';
  const name = source.slice('csv:'.length);
  if (folder !== '' && basename(resolve(folder)) === name) return folder;
  throw new OracleError('CONFIG_INVALID', `The record of this service was made from files in a folder named "${name}"`, {
    field: 'FEEDS',
    suggestedAction: `Set FEEDS=csv:<folder> as for npm start, or name a file of closes with --prices, such as ${join(name, 'btc_daily.csv')}.`,
  });
}

async function createFeedPrices(feed: Feed, { toleranceBps = 0, now }: Omit<PriceOptions, 'feeds'>): Promise<AuditPrices> {
  const market = createMarket(feed);
  const { lastDay } = await market.coverage();
  const close = async (day: Day): Promise<[Day, number][]> => {
    const found = await market.dailyClose(day, now.getTime()).catch(orElse('PRICE_UNAVAILABLE', null));
    return found === null ? [] : [[day, found.priceUsd]];
  };
  return {
    source: feed.source,
    toleranceBps,
    endsOn: lastDay,
    closes: async (days) => new Map((await Promise.all(days.map(close))).flat()),
    async history() {
      const { days, values } = await feed.observations('btcClose', now.getTime());
      return days.length === 0 ? null : { firstDay: days[0], closes: Float64Array.from(values) };
    },
  };
}
