import { z } from 'zod';
import { type Day, formatDay, toDay, toInstantMs } from '../../forecast/day.ts';
import { readJson } from '../../platform/outbound/bounded-json.ts';
import { createOperatorFetch } from '../../platform/outbound/operator-fetch.ts';

/** A public exchange with daily candles that need no API key. */
export interface CandleVenue {
  name: string;
  baseUrl: string;
  /** Maximum days per request. */
  pageDays: number;
  path(from: Day, to: Day): string;
  /** Opening time (seconds) and close of each candle. */
  candles(answer: unknown): readonly [seconds: number, close: number][];
}

const NUMERIC = z.coerce.number();
const COINBASE = z.array(z.tuple([NUMERIC, NUMERIC, NUMERIC, NUMERIC, NUMERIC]).rest(z.unknown()));
const KRAKEN = z.object({ result: z.object({ XXBTZUSD: COINBASE }) });
const BITSTAMP = z.object({ data: z.object({ ohlc: z.array(z.object({ timestamp: NUMERIC, close: NUMERIC })) }) });

const toUnixSeconds = (day: Day) => toInstantMs(day) / 1000;

export const CANDLE_VENUES: readonly CandleVenue[] = [
  {
    name: 'Coinbase',
    baseUrl: 'https://api.exchange.coinbase.com',
    pageDays: 299,
    path: (from, to) => `/products/BTC-USD/candles?granularity=86400&start=${formatDay(from)}T00:00:00Z&end=${formatDay(to)}T00:00:00Z`,
    candles: (answer) => COINBASE.parse(answer).map(([time, , , , close]) => [time, close]),
  },
  {
    name: 'Kraken',
    baseUrl: 'https://api.kraken.com',
    // Kraken always returns the newest 720 days.
    pageDays: Number.POSITIVE_INFINITY,
    path: (from) => `/0/public/OHLC?pair=XBTUSD&interval=1440&since=${toUnixSeconds(from - 1)}`,
    candles: (answer) => KRAKEN.parse(answer).result.XXBTZUSD.map(([time, , , , close]) => [time, close]),
  },
  {
    name: 'Bitstamp',
    baseUrl: 'https://www.bitstamp.net',
    pageDays: 1_000,
    path: (from, to) => `/api/v2/ohlc/btcusd/?step=86400&limit=1000&start=${toUnixSeconds(from)}&end=${toUnixSeconds(to)}`,
    candles: (answer) => BITSTAMP.parse(answer).data.ohlc.map(({ timestamp, close }) => [timestamp, close]),
  },
];

const REQUEST_TIMEOUT_MS = 20_000;
const MAX_BYTES = 16 * 2 ** 20;

/** Fetches the available closes of both days and those between. @throws the errors of fetch, of JSON and of zod */
export async function fetchVenueCloses(venue: CandleVenue, { from, to }: { from: Day; to: Day }): Promise<Map<Day, number>> {
  const closes = new Map<Day, number>();
  const fetchVenue = createOperatorFetch({ base: venue.baseUrl, timeoutMs: REQUEST_TIMEOUT_MS, maxBytes: MAX_BYTES });
  for (let first = from; first <= to; first += venue.pageDays) {
    const last = Math.min(to, first + venue.pageDays - 1);
    const response = await fetchVenue(`${venue.baseUrl}${venue.path(first, last)}`);
    if (!response.ok) throw new Error(`HTTP ${response.status}`);
    for (const [time, close] of venue.candles(await readJson(response))) {
      const day = toDay(time * 1000);
      if (time * 1000 === toInstantMs(day) && close > 0) closes.set(day, close);
    }
  }
  return closes;
}
