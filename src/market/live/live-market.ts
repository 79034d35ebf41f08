import type { Db } from 'mongodb';
import { OracleError } from '../../platform/errors.ts';
import type { Log } from '../../platform/log.ts';
import { QUORUM_RULES } from '../prices/quorum.ts';
import { AGREED_CLOSES_ID, createAgreedCloseItem, createLongCloseItem, createVenueItem } from './backfill/close-items.ts';
import { createAgreedRangeItem, createLongRangeItem, createVenueRangeItem, selectFetchable } from './backfill/range-items.ts';
import { type BackfillItem, type BackfillOptions, type MissingHistory, runBackfill } from './backfill/run-backfill.ts';
import type { BackfillDeps } from './backfill/save-history.ts';
import { createEtfItem, createSeriesItem } from './backfill/series-items.ts';
import type { CollectDeps } from './collect/deps.ts';
import { createEtfPoll } from './collect/etf-poll.ts';
import { type Poll, runDuePolls } from './collect/poll.ts';
import { createSeriesPoll, type SeriesPlan } from './collect/series-poll.ts';
import { createSpotPoll } from './collect/spot-poll.ts';
import { createStrikesPoll } from './collect/strikes-poll.ts';
import { type AgreementDeps, getLastClosedDay } from './collect/venues/agree-on-closes.ts';
import { createClosesPoll } from './collect/venues/closes-poll.ts';
import { createRangePoll } from './collect/venues/range-poll.ts';
import { FIRST_LIVE_DAY, openLiveFeed } from './feed.ts';
import { createProviders } from './providers/create-providers.ts';
import type { Provider } from './providers/provider.ts';
import type { ProviderTiming } from './providers/provider-timing.ts';
import type { ProviderUrls } from './providers/provider-urls.ts';
import { VENUE_IDS } from './providers/providers.ts';
import { createEtfSources, FUND_FLOW_SOURCES, SERIES_PLANS, STRIKE_SOURCES, VENUE_SOURCES } from './sources/registry.ts';
import { type LiveStores, openLiveStores } from './store/live-stores.ts';

export interface LiveMarketOptions {
  db: Db;
  urls: ProviderUrls;
  sosovalueKey: string | undefined;
  /** Days before now with closes of all venues. */
  venueDays: number;
  log: Log;
  now(): number;
  signal: AbortSignal;
  timing?: Partial<ProviderTiming>;
}

/** Live market data: workers fetch and store it, every process reads it. */
export type LiveMarket = ReturnType<typeof openLiveMarket>;
const QUARTER_HOUR_MS = 15 * 60_000;
const HOUR_MS = 4 * QUARTER_HOUR_MS;
const SERIES_PLAN_ENTRIES = Object.entries(SERIES_PLANS) as [keyof typeof SERIES_PLANS, SeriesPlan][];

export function openLiveMarket(options: LiveMarketOptions) {
  const { db, urls, venueDays, log, now, signal, timing } = options;
  const stores = openLiveStores(db, now);
  const providers = createProviders({ urls, log, now, signal, timing });
  const flows = createEtfSources(options.sosovalueKey);
  const deps: CollectDeps & AgreementDeps = { stores, providers, now, venues: VENUE_IDS, quorum: QUORUM_RULES.live };

  /** Fetches the remaining history. @returns the incomplete items; never throws for a provider */
  async function fetchHistory(onProgress: BackfillOptions['onProgress']): Promise<MissingHistory[]> {
    const run = { backfills: stores.backfills, onProgress, signal };
    const window = await stores.backfills.begin(AGREED_CLOSES_ID, Math.max(FIRST_LIVE_DAY, getLastClosedDay(now()) - venueDays + 1));
    const backfillDeps = { ...deps, windowStart: window.from };
    const [candles, ranges] = [buildCandleItems(backfillDeps), buildRangeItems(backfillDeps)];
    for (const { id, from } of ranges) await stores.backfills.begin(id, from);
    const items = [
      ...candles,
      ...SERIES_PLAN_ENTRIES.map(([id, plan]) => createSeriesItem(id, plan, backfillDeps)),
      ...flows.map((source) => createEtfItem(source, backfillDeps)),
    ];
    const missing = await runBackfill(items, run);
    missing.push(...(await runBackfill([createAgreedCloseItem(backfillDeps), ...selectFetchable(ranges, missing)], run)));
    missing.push(...(await runBackfill([createAgreedRangeItem(VENUE_SOURCES, backfillDeps)], run)));
    await saveHealth();
    return missing;
  }

  const spot = createSpotPoll(VENUE_SOURCES, deps);
  const prices = [spot, createRangePoll(VENUE_SOURCES, deps)];
  const others = buildPolls(deps, flows);
  const history = [createHistoryPoll(stores, () => fetchHistory(() => {}))];
  /** Saves only providers called by this process: another worker may call the others. */
  const saveHealth = () => {
    const healths = Object.values(providers).map((provider: Provider) => provider.health());
    return stores.providerHealth.save(healths.filter(({ calls }) => calls > 0));
  };
  const collect = async (polls: Poll[]) => {
    await runDuePolls(polls, { polls: stores.polls, log, now });
    await saveHealth();
  };

  return {
    feed: openLiveFeed(stores),
    stores,
    fetchHistory,
    /** The price alone, for a start that waits for it. */
    collectSpot: () => collect([spot]),
    collectPrices: () => collect(prices),
    collect: () => collect(others),
    completeHistory: () => collect(history),
  };
}

function buildCandleItems(deps: BackfillDeps): BackfillItem[] {
  return [
    ...VENUE_SOURCES.map((venue) => createVenueItem(venue, deps)),
    createLongCloseItem(VENUE_SOURCES.toSorted(compareHistoryStart), deps),
  ];
}

function buildRangeItems(deps: BackfillDeps): BackfillItem[] {
  return [
    ...VENUE_SOURCES.map((venue) => createVenueRangeItem(venue, deps)),
    createLongRangeItem(VENUE_SOURCES.toSorted(compareHistoryStart), deps),
  ];
}

function buildPolls(deps: CollectDeps & AgreementDeps, flows: ReturnType<typeof createEtfSources>): Poll[] {
  return [
    createClosesPoll(VENUE_SOURCES, deps),
    createEtfPoll({ id: 'etfFlow', sources: flows, everyMs: HOUR_MS }, deps),
    createEtfPoll({ id: 'fundFlows', sources: FUND_FLOW_SOURCES, everyMs: 6 * HOUR_MS }, deps),
    ...STRIKE_SOURCES.map((source) => createStrikesPoll(source, deps)),
    ...SERIES_PLAN_ENTRIES.map(([id, plan]) => createSeriesPoll(id, plan, deps)),
  ];
}

function createHistoryPoll({ backfills }: LiveStores, fetchHistory: () => Promise<MissingHistory[]>): Poll {
  return {
    id: 'history',
    everyMs: QUARTER_HOUR_MS,
    retryMs: QUARTER_HOUR_MS,
    async run() {
      if (await backfills.isComplete()) return undefined;
      const missing = await fetchHistory();
      if (missing.length > 0) throw new OracleError('FEED_UNAVAILABLE', missing.map(({ id, reason }) => `${id}: ${reason}`).join('; '));
      return undefined;
    },
  };
}

function compareHistoryStart(a: (typeof VENUE_SOURCES)[number], b: (typeof VENUE_SOURCES)[number]): number {
  const from = ({ history }: typeof a) => ('from' in history ? history.from : '9999');
  return from(a) < from(b) ? -1 : 1;
}
