import { getErrorMessage, OracleError } from '../../../platform/errors.ts';
import { median } from '../../prices/quorum.ts';
import type { Provider } from '../providers/provider.ts';
import { PROVIDERS, type ProviderId } from '../providers/providers.ts';
import type { VenueSource } from '../sources/source.ts';
import type { SpotDoc, SpotStore } from '../store/spot-store.ts';
import type { Poll } from './poll.ts';

const MINUTE_MS = 60_000;
/** A price that its venue made longer ago is not one of now. */
const MAX_AGE_MS = 5 * MINUTE_MS;
/** A venue whose clock runs further ahead cannot be believed about times. */
const MAX_CLOCK_AHEAD_MS = 2 * MINUTE_MS;
/** A venue farther from the median of all does not take part. */
const MAX_DEVIATION = 0.02;

export interface SpotPollDeps {
  spots: SpotStore;
  providers: Record<ProviderId, Provider>;
  now(): number;
}

interface VenuePrice {
  venue: ProviderId;
  priceUsd: number;
  observedAtMs: number;
  change24hPct: number | null;
}

/** Asks every venue for its price each minute and stores the median. */
export function createSpotPoll(venues: readonly VenueSource[], { spots, providers, now }: SpotPollDeps): Poll {
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
        throw new OracleError('FEED_UNAVAILABLE', `no venue tells a price: ${failed.map(getErrorMessage).join('; ')}`);
      await spots.save(computeMedianSpot(prices, now()));
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

/** The median of the venues; of three or more, those far from the others are left out. */
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
