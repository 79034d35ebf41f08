import { type Day, formatDay } from '../../../forecast/day.ts';
import { getErrorMessage, isOracleError, OracleError } from '../../../platform/errors.ts';
import { getSignalTimeMs } from '../../signal-time.ts';
import type { ArchiveEntry } from '../archive-series.ts';
import type { ArchiveCollector, CollectContext } from '../collector.ts';
import { BAR_MS, BARS_PER_DAY, type CheckedBars, checkBars, maskBadTicks } from './bar.ts';
import { fetchBars, VENUE_BARS } from './venue-bars.ts';

const VENUES = ['coinbase', 'kraken'] as const;

type Venue = (typeof VENUES)[number];
type Fetched = CheckedBars & { receivedAtMs: number };

/** The 288 bars of the 24 hours up to 21:35 UTC. Each venue may fail alone; the other one confirms unusual prices. */
export const barsCollector: ArchiveCollector = {
  series: 'bars-5m',
  providers: VENUES,
  reachDays: Math.min(...VENUES.map((venue) => VENUE_BARS[venue].reachDays)),
  maxDelayMs: null,
  async collect(day, context) {
    const problems: string[] = [];
    const fetched = new Map<Venue, Fetched>();
    for (const venue of VENUES) {
      try {
        fetched.set(venue, await fetchVenue(venue, day, context));
      } catch (error) {
        if (!isOracleError(error, 'FEED_UNAVAILABLE') && !isOracleError(error, 'FEED_INVALID')) throw error;
        problems.push(getErrorMessage(error));
      }
    }
    return { entries: [...fetched].map(([venue, own]) => toEntry(venue, day, own, fetched)), problems };
  },
};

async function fetchVenue(venue: Venue, day: Day, { providers }: CollectContext): Promise<Fetched> {
  const provider = providers[venue];
  const endMs = getSignalTimeMs(day);
  const startMs = endMs - BARS_PER_DAY * BAR_MS;
  const { bars, receivedAtMs } = await fetchBars(provider, VENUE_BARS[venue], startMs);
  const checked = checkBars(bars, startMs);
  const hasEnd = checked.bars.some(({ opensAtMs }) => opensAtMs >= endMs - 3 * BAR_MS);
  if (hasEnd) return { ...checked, receivedAtMs };
  throw new OracleError('FEED_UNAVAILABLE', `${provider.title}: no bars of the quarter hour up to ${new Date(endMs).toISOString()}`);
}

function toEntry(venue: Venue, day: Day, { receivedAtMs, ...own }: Fetched, all: ReadonlyMap<Venue, Fetched>): ArchiveEntry {
  const others = [...all].filter(([other]) => other !== venue).flatMap(([, { bars }]) => bars);
  const { bars, masked } = maskBadTicks(own, others);
  const rows = bars.map(({ opensAtMs, open, high, low, close, volume }) => [opensAtMs, open, high, low, close, volume]);
  return {
    ...{ series: 'bars-5m', provider: venue, key: formatDay(day) },
    values: { columns: ['opensAtMs', 'open', 'high', 'low', 'close', 'volume'], rows, expected: BARS_PER_DAY },
    masked,
    receivedAtMs,
    providerAtMs: bars.length === 0 ? null : bars[bars.length - 1].opensAtMs + BAR_MS,
  };
}
