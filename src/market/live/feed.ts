import { type Day, formatDay, parseDay, toDay, toInstantMs } from '../../forecast/day.ts';
import { OracleError } from '../../platform/errors.ts';
import type { Feed, SpotPrice, VenueClose } from '../feed.ts';
import type { Observations } from '../series/observations.ts';
import type { SeriesId } from '../series/series.ts';
import { getNextPublicationMs } from '../series/series.ts';
import { getSignalTimeMs } from '../signal-time.ts';
import type { StrikeSnapshot } from '../strikes.ts';
import { getPollId } from './poll-id.ts';
import type { ProviderId } from './providers/providers.ts';
import { PROVIDERS, VENUE_IDS } from './providers/providers.ts';
import type { LiveStores } from './store/live-stores.ts';

/** Bitstamp's first daily candle; nothing live is known of earlier days. */
export const FIRST_LIVE_DAY: Day = parseDay('2011-08-18');

/** A strike that has not been seen for this long is not told any more. */
const MAX_STRIKE_AGE_MS = 24 * 3_600_000;
const MINUTE_MS = 60_000;

export interface LiveFeedOptions {
  stores: LiveStores;
  /** The venues whose closes make the settlement price; `VENUE_IDS` unless told. */
  venues?: readonly ProviderId[];
}

/**
 * The market as providers told it, read from the store that the collector fills: the same in every process. Prices of instants
 * before the first collected one are daily closes, as in a folder of files: the close of a day stands for 21:35 UTC of it.
 */
export function openLiveFeed({ stores, venues = VENUE_IDS }: LiveFeedOptions): Feed {
  const { observationCache, spots, polls, providerHealth: providers, strikes } = stores;
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
      if (collected === null) return buildSpotFromClose(await observations('btcClose', Number.MAX_SAFE_INTEGER), atMs);
      const { priceUsd, observedAtMs, change24hPct } = collected;
      return { priceUsd, observedAtMs, change24hPct, source: formatSpotSource(collected.venues.map(({ venue }) => venue)) };
    },
    async dailyCloses(day, atMs) {
      const known = (await observationCache.getHistory('venueClose')).getFinalValues(day, atMs);
      return venues.map((venue) => buildVenueClose(venue, known.get(venue), day, atMs));
    },
    async fundFlows(atMs) {
      const streams = await stores.observations.listFundStreams();
      const flows = await Promise.all(streams.map(async (stream) => (await observationCache.getHistory(stream)).getLatestVersions(atMs)));
      return Object.fromEntries(streams.map((stream, index) => [stream.slice('fundFlow.'.length), flows[index]]));
    },
    historyRevision: () => observationCache.getRevision(),
    strikes: (atMs): Promise<StrikeSnapshot[]> => strikes.latest(atMs, MAX_STRIKE_AGE_MS),
    nextChangeAt: (what, atMs) => getNextChangeMs(polls, what, atMs),
    providerHealth: () => providers.read(),
  };
}

function formatSpotSource(venues: string[]): string {
  return venues.length === 1 ? venues[0] : `median of ${venues.join(', ')}`;
}

function buildSpotFromClose({ days, values }: Observations, atMs: number): SpotPrice {
  const today = toDay(atMs);
  const isSignalTime = atMs >= getSignalTimeMs(today);
  const findPrice = (day: Day) => (days.length > 0 && days[day - days[0]] === day ? values[day - days[0]] : null);
  const price = findPrice(isSignalTime ? today : today - 1);
  if (price === null || findPrice(today) === null) {
    throw new OracleError('PRICE_UNAVAILABLE', `No price was collected at or before ${new Date(atMs).toISOString()}`);
  }
  const before = findPrice(isSignalTime ? today - 1 : today - 2);
  return {
    priceUsd: price,
    observedAtMs: isSignalTime ? getSignalTimeMs(today) : toInstantMs(today),
    source: 'daily closes',
    change24hPct: before === null ? null : (price / before - 1) * 100,
  };
}

function buildVenueClose(venue: ProviderId, priceUsd: number | undefined, day: Day, atMs: number): VenueClose {
  if (atMs < toInstantMs(day + 1)) return { venue, priceUsd: null, reason: 'the day is still running' };
  if (priceUsd !== undefined) return { venue, priceUsd };
  return { venue, priceUsd: null, reason: `${PROVIDERS[venue].title} has not told its close of ${formatDay(day)}` };
}

/** The next poll of what is asked for; it may bring nothing new. */
async function getNextChangeMs(polls: LiveStores['polls'], what: SeriesId | 'spot', atMs: number): Promise<number> {
  if (what === 'spot') return (Math.floor(atMs / MINUTE_MS) + 1) * MINUTE_MS;
  const next = (await polls.find(getPollId(what)))?.nextAtMs ?? getNextPublicationMs(what, atMs);
  return Math.max(next, atMs + MINUTE_MS);
}
