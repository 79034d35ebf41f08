import { getErrorMessage, OracleError } from '../../../platform/errors.ts';
import { median } from '../../prices/quorum.ts';
import type { Provider } from '../providers/provider.ts';
import { PROVIDERS, type ProviderId } from '../providers/providers.ts';
import type { VenueSource } from '../sources/source.ts';
import type { SpotDoc } from '../store/spot-store.ts';
import type { CollectDeps } from './deps.ts';
import type { Poll } from './poll.ts';

const MINUTE_MS = 60_000;
const MAX_AGE_MS = 5 * MINUTE_MS;
/** The timestamps of a venue are untrusted when its clock is further ahead. */
const MAX_CLOCK_AHEAD_MS = 2 * MINUTE_MS;
/** A venue further from the median is excluded. */
const MAX_DEVIATION = 0.02;

interface VenuePrice {
  venue: ProviderId;
  priceUsd: number;
  observedAtMs: number;
  change24hPct: number | null;
}

/** Stores the median price of all venues each minute. */
export function createSpotPoll(venues: readonly VenueSource[], { stores, providers, now }: CollectDeps): Poll {
  return {
    id: 'spot',
    everyMs: MINUTE_MS,
    retryMs: MINUTE_MS,
    leaseMs: MINUTE_MS,
    async run() {
      const answers = await Promise.allSettled(venues.map((venue) => fetchVenuePrice(venue, providers[venue.provider], now)));
      const failed = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason as unknown] : []));
      const unexpected = failed.find((reason) => !(reason instanceof OracleError));
      if (unexpected !== undefined) throw unexpected;
      const prices = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
      if (prices.length === 0)
        throw new OracleError('FEED_UNAVAILABLE', `no venue returned a price: ${failed.map(getErrorMessage).join('; ')}`);
      await stores.spots.save(computeMedianSpot(prices, now()));
      return undefined;
    },
  };
}

async function fetchVenuePrice(venue: VenueSource, provider: Provider, now: () => number): Promise<VenuePrice> {
  const { priceUsd, providerAtMs, change24hPct } = await venue.fetchTicker(provider);
  const receivedAtMs = now();
  const ageMs = receivedAtMs - (providerAtMs ?? receivedAtMs);
  const { title } = PROVIDERS[venue.provider];
  if (ageMs > MAX_AGE_MS) throw new OracleError('FEED_UNAVAILABLE', `${title}: its price is ${Math.round(ageMs / MINUTE_MS)} minutes old`);
  if (ageMs < -MAX_CLOCK_AHEAD_MS)
    throw new OracleError('FEED_INVALID', `${title}: its clock is ${Math.round(-ageMs / 1_000)} s ahead of ours`);
  return { venue: venue.provider, priceUsd, observedAtMs: receivedAtMs - Math.max(0, ageMs), change24hPct };
}

/** The median of the venues, with outliers excluded when there are three or more. */
function computeMedianSpot(prices: VenuePrice[], receivedAtMs: number): Omit<SpotDoc, '_id'> {
  const middle = median(prices.map(({ priceUsd }) => priceUsd));
  const near = prices.length < 3 ? prices : prices.filter(({ priceUsd }) => Math.abs(priceUsd / middle - 1) <= MAX_DEVIATION);
  const used = near.length > 0 ? near : prices;
  const changes = used.flatMap(({ change24hPct }) => (change24hPct === null ? [] : [change24hPct]));
  return {
    priceUsd: median(used.map(({ priceUsd }) => priceUsd)),
    observedAtMs: Math.min(...used.map(({ observedAtMs }) => observedAtMs)),
    receivedAtMs,
    change24hPct: changes.length > 0 ? median(changes) : null,
    venues: used.map(({ venue, priceUsd, observedAtMs }) => ({ venue, priceUsd, observedAtMs })),
  };
}
