import { OracleError } from '../../errors.ts';
import { type Day, dayOf, formatDay, instantOf, parseDay } from '../../forecast/day.ts';
import type { Feed, SpotPrice, VenueClose } from '../feed.ts';
import { nextPublication } from '../next-publication.ts';
import type { Observations } from '../observations.ts';
import type { SeriesId } from '../series.ts';
import { signalInstant } from '../signal-time.ts';
import type { StrikeSnapshot } from '../strikes.ts';
import { pollOf } from './polls.ts';
import type { ProviderId } from './providers.ts';
import { PROVIDERS, VENUE_IDS } from './providers.ts';
import type { LiveStores } from './stores.ts';

/** Bitstamp's first daily candle; nothing live is known of earlier days. */
export const FIRST_LIVE_DAY: Day = parseDay('2011-08-18');

/** A strike that has not been seen for this long is not told any more. */
const STRIKE_MAX_AGE_MS = 24 * 3_600_000;
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
  const { memory, spots, polls, providers, strikes } = stores;
  const observations: Feed['observations'] = async (series, atMs, vintage = 'first') => {
    const history = await memory.stream(series);
    return vintage === 'first' ? history.first(atMs) : history.latest(atMs);
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
      const collected = await spots.at(atMs);
      if (collected === null) return closeAsSpot(await observations('btcClose', Number.MAX_SAFE_INTEGER), atMs);
      const { priceUsd, observedAtMs, change24hPct } = collected;
      return { priceUsd, observedAtMs, change24hPct, source: spotSource(collected.venues.map(({ venue }) => venue)) };
    },
    async dailyCloses(day, atMs) {
      const known = (await memory.stream('venueClose')).bySource(day, atMs);
      return venues.map((venue) => venueClose(venue, known.get(venue), day, atMs));
    },
    async fundFlows(atMs) {
      const streams = await stores.observations.fundStreams();
      const flows = await Promise.all(streams.map(async (stream) => (await memory.stream(stream)).latest(atMs)));
      return Object.fromEntries(streams.map((stream, index) => [stream.slice('fundFlow.'.length), flows[index]]));
    },
    historyRevision: () => memory.revision(),
    strikes: (atMs): Promise<StrikeSnapshot[]> => strikes.latest(atMs, STRIKE_MAX_AGE_MS),
    nextChangeAt: (what, atMs) => nextChange(polls, what, atMs),
    providers: () => providers.read(),
  };
}

function spotSource(venues: string[]): string {
  return venues.length === 1 ? venues[0] : `median of ${venues.join(', ')}`;
}

function closeAsSpot({ days, values }: Observations, atMs: number): SpotPrice {
  const today = dayOf(atMs);
  const isSignalTime = atMs >= signalInstant(today);
  const priceOf = (day: Day) => (days.length > 0 && days[day - days[0]] === day ? values[day - days[0]] : null);
  const price = priceOf(isSignalTime ? today : today - 1);
  if (price === null || priceOf(today) === null) {
    throw new OracleError('PRICE_UNAVAILABLE', `No price was collected at or before ${new Date(atMs).toISOString()}`);
  }
  const before = priceOf(isSignalTime ? today - 1 : today - 2);
  return {
    priceUsd: price,
    observedAtMs: isSignalTime ? signalInstant(today) : instantOf(today),
    source: 'daily closes',
    change24hPct: before === null ? null : (price / before - 1) * 100,
  };
}

function venueClose(venue: ProviderId, priceUsd: number | undefined, day: Day, atMs: number): VenueClose {
  if (atMs < instantOf(day + 1)) return { venue, priceUsd: null, reason: 'the day is still running' };
  if (priceUsd !== undefined) return { venue, priceUsd };
  return { venue, priceUsd: null, reason: `${PROVIDERS[venue].title} has not told its close of ${formatDay(day)}` };
}

/** The next poll of what is asked for; it may bring nothing new. */
async function nextChange(polls: LiveStores['polls'], what: SeriesId | 'spot', atMs: number): Promise<number> {
  if (what === 'spot') return (Math.floor(atMs / MINUTE_MS) + 1) * MINUTE_MS;
  const next = (await polls.find(pollOf(what)))?.nextAtMs ?? nextPublication(what, atMs);
  return Math.max(next, atMs + MINUTE_MS);
}
