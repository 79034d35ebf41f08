import { z } from 'zod';
import type { AuditPrices } from '../../audit/chain-record.ts';
import { getErrorMessage, OracleError } from '../../errors.ts';
import { type Day, formatDay, toDay, toInstantMs } from '../../forecast/day.ts';
import { createOperatorFetch, readJson } from '../../platform/outbound/operator.ts';

/** A public exchange with daily candles that need no API key. */
export interface CandleVenue {
  name: string;
  baseUrl: string;
  /** Maximum days per request. */
  pageDays: number;
  path(from: Day, to: Day): string;
  /** Parses an answer to the opening time (seconds) and close of each candle. */
  candles: z.ZodType<{ timestamp: number; close: number }[]>;
}

const NUMERIC = z.coerce.number();
const ROWS = z
  .array(z.tuple([NUMERIC, NUMERIC, NUMERIC, NUMERIC, NUMERIC]).rest(z.unknown()))
  .transform((rows) => rows.map(([timestamp, , , , close]) => ({ timestamp, close })));
const OHLC = z.object({ ohlc: z.array(z.object({ timestamp: NUMERIC, close: NUMERIC })) });

const toUnixSeconds = (day: Day) => toInstantMs(day) / 1000;

export const CANDLE_VENUES: readonly CandleVenue[] = [
  {
    ...{ name: 'Coinbase', baseUrl: 'https://api.exchange.coinbase.com', pageDays: 299 },
    path: (from, to) => `/products/BTC-USD/candles?granularity=86400&start=${formatDay(from)}T00:00:00Z&end=${formatDay(to)}T00:00:00Z`,
    candles: ROWS,
  },
  {
    // Kraken always returns the newest 720 days.
    ...{ name: 'Kraken', baseUrl: 'https://api.kraken.com', pageDays: Number.POSITIVE_INFINITY },
    path: (from) => `/0/public/OHLC?pair=XBTUSD&interval=1440&since=${toUnixSeconds(from - 1)}`,
    candles: z.object({ result: z.object({ XXBTZUSD: ROWS }) }).transform(({ result }) => result.XXBTZUSD),
  },
  {
    ...{ name: 'Bitstamp', baseUrl: 'https://www.bitstamp.net', pageDays: 1_000 },
    path: (from, to) => `/api/v2/ohlc/btcusd/?step=86400&limit=1000&start=${toUnixSeconds(from)}&end=${toUnixSeconds(to)}`,
    candles: z.object({ data: OHLC }).transform(({ data }) => data.ohlc),
  },
];

/** Fetches the available closes of both days and those between. @throws the errors of fetch, of JSON and of zod */
export async function fetchVenueCloses(venue: CandleVenue, { from, to }: { from: Day; to: Day }): Promise<Map<Day, number>> {
  const closes = new Map<Day, number>();
  const fetchVenue = createOperatorFetch({ base: venue.baseUrl, timeoutMs: 20_000, maxBytes: 16 * 2 ** 20 });
  for (let first = from; first <= to; first += venue.pageDays) {
    const last = Math.min(to, first + venue.pageDays - 1);
    const response = await fetchVenue(`${venue.baseUrl}${venue.path(first, last)}`);
    if (!response.ok) throw new Error(`HTTP ${response.status}`);
    for (const { timestamp, close } of venue.candles.parse(await readJson(response))) {
      const day = toDay(timestamp * 1000);
      if (timestamp === toUnixSeconds(day) && close > 0) closes.set(day, close);
    }
  }
  return closes;
}

/** A close of a single venue is not independent. */
const MIN_VENUES = 2;

/** Median of the closes of exchanges, without API keys. @throws OracleError FEED_UNAVAILABLE for fewer than two responses */
export function livePrices({ toleranceBps, now }: { toleranceBps: number; now: Date }, venues = CANDLE_VENUES): AuditPrices {
  return {
    source: `median of ${venues.map(({ name }) => name).join(', ')}`,
    toleranceBps,
    endsOn: null,
    async closes(days) {
      // Closed candles only.
      const over = days.filter((day) => toInstantMs(day + 1) <= now.getTime());
      if (over.length === 0) return new Map();
      const found = await fetchAllCloses(venues, { from: Math.min(...over), to: Math.max(...over) });
      return new Map(over.flatMap((day) => computeMedianClose(found, day)));
    },
    history: async () => null,
  };
}

async function fetchAllCloses(venues: readonly CandleVenue[], range: { from: Day; to: Day }): Promise<ReadonlyMap<Day, number>[]> {
  const results = await Promise.allSettled(venues.map((venue) => fetchVenueCloses(venue, range)));
  const found = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  if (found.length >= MIN_VENUES) return found;
  const problems = results.flatMap((result, index) =>
    result.status === 'rejected' ? [`${venues[index].name}: ${getErrorMessage(result.reason).slice(0, 100)}`] : [],
  );
  const suggestedAction = 'Try again later, or give closes of your own with --prices <csv file>.';
  const message = `Fewer than ${MIN_VENUES} exchanges returned closes (${problems.join('; ')})`;
  throw new OracleError('FEED_UNAVAILABLE', message, { suggestedAction });
}

function computeMedianClose(found: readonly ReadonlyMap<Day, number>[], day: Day): [Day, number][] {
  const closes = found.flatMap((venue) => venue.get(day) ?? []).sort((a, b) => a - b);
  if (closes.length < MIN_VENUES) return [];
  const middle = closes.length >> 1;
  return [[day, closes.length % 2 === 1 ? closes[middle] : (closes[middle - 1] + closes[middle]) / 2]];
}
