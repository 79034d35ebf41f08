import { OracleError } from '../../errors.ts';
import { type Day, formatDay, MINUTE_MS, parseDay } from '../../forecast/day.ts';
import type { Feed } from '../feed.ts';
import { findSpotFromCloses, toVenueClose } from '../quorum.ts';
import { getNextPublicationMs, isPriceSeries } from '../series.ts';
import { PROVIDERS, type ProviderId, VENUE_IDS } from './provider.ts';
import type { LiveStores } from './store.ts';

/** Bitstamp's first daily candle, the start of all live data. */
export const FIRST_LIVE_DAY: Day = parseDay('2011-08-18');
const MAX_STRIKE_AGE_MS = 24 * 3_600_000;

/** The collected market data, identical in every process. The spot price before the first collected one derives from daily closes. */
export function openLiveFeed(stores: LiveStores, venues: readonly ProviderId[] = VENUE_IDS): Feed {
  const { observationCache, spots, ranges, polls, providerHealth, strikes } = stores;
  const observations: Feed['observations'] = async (series, atMs, vintage = 'first') => {
    const history = await observationCache.getHistory(series);
    return vintage === 'first' ? history.getFirstVersions(atMs) : history.getLatestVersions(atMs);
  };

  return {
    kind: 'live',
    source: 'live',
    async coverage() {
      const { days } = await observations('btcClose', Number.MAX_SAFE_INTEGER);
      return { firstDay: days[0] ?? FIRST_LIVE_DAY, lastDay: null };
    },
    observations,
    async spot(atMs) {
      const collected = await spots.findAt(atMs);
      if (collected === null) {
        const price = findSpotFromCloses(await observations('btcClose', Number.MAX_SAFE_INTEGER), atMs);
        if (price !== null) return { ...price, source: 'daily closes' };
        throw new OracleError('PRICE_UNAVAILABLE', `No price was collected at or before ${new Date(atMs).toISOString()}`);
      }
      const { priceUsd, observedAtMs, change24hPct } = collected;
      const names = collected.venues.map(({ venue }) => venue);
      return { priceUsd, observedAtMs, change24hPct, source: names.length === 1 ? names[0] : `median of ${names.join(', ')}` };
    },
    rangeSoFar: (atMs) => ranges.findAt(atMs),
    async dailyCloses(day, atMs) {
      const known = (await observationCache.getHistory('venueClose')).getFinalValues(day, atMs);
      return venues.map((venue) => {
        const missingReason = `${PROVIDERS[venue].title} has not published its close of ${formatDay(day)}`;
        return toVenueClose(venue, { day, atMs, priceUsd: known.get(venue) ?? null, missingReason });
      });
    },
    async fundFlows(atMs) {
      const streams = await stores.observations.listFundStreams();
      const flows = await Promise.all(streams.map(async (stream) => (await observationCache.getHistory(stream)).getLatestVersions(atMs)));
      return Object.fromEntries(streams.map((stream, index) => [stream.slice('fundFlow.'.length), flows[index]]));
    },
    historyRevision: () => observationCache.getRevision(),
    strikes: (atMs) => strikes.latest(atMs, MAX_STRIKE_AGE_MS),
    /** The next poll of the series or price; it may bring nothing new. */
    async nextChangeAt(what, atMs) {
      if (what === 'spot') return (Math.floor(atMs / MINUTE_MS) + 1) * MINUTE_MS;
      const next = (await polls.find(isPriceSeries(what) ? 'closes' : what))?.nextAtMs ?? getNextPublicationMs(what, atMs);
      return Math.max(next, atMs + MINUTE_MS);
    },
    providerHealth: () => providerHealth.read(),
  };
}
