import type { Db } from 'mongodb';
import { OracleError } from '../../errors.ts';
import type { Log } from '../../log.ts';
import type { Feed } from '../feed.ts';
import { QUORUM_RULES } from '../quorum.ts';
import { AGREED_ID, agreedCloseItem, etfItem, longCloseItem, seriesItem, venueItem } from './backfill/items.ts';
import { type BackfillOptions, type MissingHistory, runBackfill } from './backfill/run.ts';
import { type AgreeParts, lastDayClosed } from './collect/agree.ts';
import { closesPoll } from './collect/closes-poll.ts';
import { etfPoll } from './collect/etf-poll.ts';
import { type Poll, runDue } from './collect/poll.ts';
import { type CollectParts, seriesPoll } from './collect/series-poll.ts';
import { spotPoll } from './collect/spot-poll.ts';
import { strikesPoll } from './collect/strikes-poll.ts';
import { createProviders } from './create-providers.ts';
import { FIRST_LIVE_DAY, openLiveFeed } from './feed.ts';
import type { Provider } from './provider.ts';
import type { ProviderTiming } from './provider-timing.ts';
import type { ProviderUrls } from './provider-urls.ts';
import { VENUE_IDS } from './providers.ts';
import { etfSources, FUND_SOURCES, SERIES_PLANS, type SeriesWithPlan, STRIKE_SOURCES, VENUES } from './registry.ts';
import { type LiveStores, openLiveStores } from './stores.ts';

export interface LiveMarketOptions {
  db: Db;
  urls: ProviderUrls;
  /** Key of SoSoValue, where one is set. */
  sosovalueKey: string | undefined;
  /** Days before now for which the closes of all venues are wanted. */
  venueDays: number;
  log: Log;
  now(): number;
  /** Ends every request under way. */
  signal: AbortSignal;
  /** Other waits than the ordinary ones. */
  timing?: Partial<ProviderTiming>;
}

/** Live data: what providers tell, fetched and kept by workers, read by every process. */
export interface LiveMarket {
  feed: Feed;
  stores: LiveStores;
  /** Fetches what is left of the history. @returns what could not be had; never throws for a provider */
  fetchHistory(onProgress: BackfillOptions['onProgress']): Promise<MissingHistory[]>;
  /** Asks for the price, when a minute has passed. */
  collectPrices(): Promise<void>;
  /** Asks for everything else that is due. */
  collect(): Promise<void>;
  /** Asks for what the first start could not have, when it is time to try again. */
  completeHistory(): Promise<void>;
}

const QUARTER_HOUR_MS = 15 * 60_000;
const HOUR_MS = 4 * QUARTER_HOUR_MS;
const SERIES = Object.entries(SERIES_PLANS) as [SeriesWithPlan, (typeof SERIES_PLANS)[SeriesWithPlan]][];

export function openLiveMarket(options: LiveMarketOptions): LiveMarket {
  const { db, urls, venueDays, log, now, signal, timing } = options;
  const stores = openLiveStores(db, now);
  const providers = createProviders({ urls, log, now, signal, timing });
  const flows = etfSources(options.sosovalueKey);
  const parts: CollectParts & AgreeParts = { stores, providers, now, venues: VENUE_IDS, quorum: QUORUM_RULES.live };

  async function fetchHistory(onProgress: BackfillOptions['onProgress']): Promise<MissingHistory[]> {
    const run = { backfills: stores.backfills, onProgress, signal };
    const window = await stores.backfills.begin(AGREED_ID, Math.max(FIRST_LIVE_DAY, lastDayClosed(now()) - venueDays + 1));
    const withWindow = { ...parts, windowStart: window.from };
    const items = [
      ...VENUES.map((venue) => venueItem(venue, withWindow)),
      longCloseItem(VENUES.toSorted(longestHistoryFirst), withWindow),
      ...SERIES.map(([id, plan]) => seriesItem(id, plan, withWindow)),
      ...flows.map((source) => etfItem(source, withWindow)),
    ];
    const missing = [...(await runBackfill(items, run)), ...(await runBackfill([agreedCloseItem(withWindow)], run))];
    await saveHealth();
    return missing;
  }

  const prices = [spotPoll(VENUES, { spots: stores.spots, providers, now })];
  const others = otherPolls(parts, flows);
  const history = [historyPoll(stores, () => fetchHistory(() => {}))];
  /** Of the providers that this process asks: others may be asked by another worker. */
  const saveHealth = () =>
    stores.providers.save(
      Object.values(providers)
        .map((provider: Provider) => provider.health())
        .filter(({ calls }) => calls > 0),
    );
  const collect = async (polls: Poll[]) => {
    await runDue(polls, { polls: stores.polls, log, now });
    await saveHealth();
  };

  return {
    feed: openLiveFeed({ stores }),
    stores,
    fetchHistory,
    collectPrices: () => collect(prices),
    collect: () => collect(others),
    completeHistory: () => collect(history),
  };
}

/** What is asked for beside the price. */
function otherPolls(parts: CollectParts & AgreeParts, flows: ReturnType<typeof etfSources>): Poll[] {
  return [
    closesPoll(VENUES, parts),
    etfPoll({ id: 'etfFlow', sources: flows, everyMs: HOUR_MS }, parts),
    etfPoll({ id: 'fundFlows', sources: FUND_SOURCES, everyMs: 6 * HOUR_MS }, parts),
    ...STRIKE_SOURCES.map((source) => strikesPoll(source, parts)),
    ...SERIES.map(([id, plan]) => seriesPoll(id, plan, parts)),
  ];
}

/** What the first start could not have; asked for again until it is there. */
function historyPoll({ backfills }: LiveStores, fetchHistory: () => Promise<MissingHistory[]>): Poll {
  return {
    id: 'history',
    everyMs: QUARTER_HOUR_MS,
    retryMs: QUARTER_HOUR_MS,
    async run() {
      if (await backfills.allDone()) return undefined;
      const missing = await fetchHistory();
      if (missing.length > 0) throw new OracleError('FEED_UNAVAILABLE', missing.map(({ id, reason }) => `${id}: ${reason}`).join('; '));
      return undefined;
    },
  };
}

function longestHistoryFirst(a: (typeof VENUES)[number], b: (typeof VENUES)[number]): number {
  const from = ({ history }: typeof a) => ('from' in history ? history.from : '9999');
  return from(a) < from(b) ? -1 : 1;
}
