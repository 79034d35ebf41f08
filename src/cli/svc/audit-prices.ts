import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import type { AuditPrices } from '../../audit/chain-record.ts';
import { getErrorMessage, OracleError } from '../../errors.ts';
import { type Day, formatDay, parseDay, toDay, toInstantMs } from '../../forecast/day.ts';
import type { DailyCloses } from '../../forecast/fit.ts';
import { MIN_HISTORY_DAYS } from '../../forecast/inputs.ts';
import { TRAINING_START } from '../../forecast/model.ts';
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

/** Accepted names of the close column, the median first: records are resolved with medians. */
const CLOSE_COLUMNS = ['close_median', 'close'];

const PRICE_PATTERN = /^\d+(\.\d+)?$/;

/** Daily closes from a CSV file with the columns `date` (YYYY-MM-DD) and `close` (USD). @throws OracleError FEED_INVALID naming the line */
export async function csvPrices(path: string, toleranceBps: number): Promise<AuditPrices> {
  const text = await readFile(path, 'utf8').catch((cause: unknown) => {
    throw new OracleError('FEED_INVALID', `${path} cannot be read: ${getErrorMessage(cause)}`, { field: '--prices', cause });
  });
  const closes = parseCloses(text, path);
  return {
    ...{ source: path, toleranceBps, endsOn: null },
    closes: async (days) => new Map(days.flatMap((day) => (closes.has(day) ? [[day, closes.get(day)!]] : []))),
    history: async () => buildPriceHistory(closes),
  };
}

/** @throws OracleError FEED_INVALID naming the line */
export function parseCloses(text: string, path: string): Map<Day, number> {
  const suggestedAction = 'Give a CSV file with a header, a date (YYYY-MM-DD) and a daily close in USD at 00:00 UTC of the next day.';
  const reject = (line: number, problem: string) =>
    new OracleError('FEED_INVALID', `${path}, line ${line}: ${problem}`, { field: '--prices', suggestedAction });
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/);
  const [header, ...rows] = lines.map((line) => line.split(',').map((cell) => cell.trim()));
  const columns = header.map((name) => name.toLowerCase());
  const names = ['date', CLOSE_COLUMNS.find((name) => columns.includes(name)) ?? 'close'];
  const twice = names.find((name) => columns.indexOf(name) !== columns.lastIndexOf(name));
  if (!names.every((name) => columns.includes(name))) throw reject(1, 'needs the columns date and close');
  if (twice !== undefined) throw reject(1, `names the column ${twice} twice`);
  const closes = new Map<Day, number>();
  for (const [index, cells] of rows.entries()) {
    if (cells.join() === '') continue;
    const [date, close = ''] = names.map((name) => cells[columns.indexOf(name)]);
    const day = z.iso.date().safeParse(date).success ? parseDay(date) : null;
    const price = PRICE_PATTERN.test(close) ? Number(close) : 0;
    const line = index + 2;
    if (cells.length > columns.length) throw reject(line, `has ${cells.length} cells, and the header ${columns.length} names`);
    if (day === null) throw reject(line, 'the date is not of the form YYYY-MM-DD');
    if (!(price > 0 && Number.isFinite(price))) throw reject(line, 'the close is no price such as 42000.5');
    if (closes.has(day)) throw reject(line, `${date} is there twice`);
    closes.set(day, price);
  }
  return closes;
}

/** Null unless the closes reach back to the first training day. */
function buildPriceHistory(closes: ReadonlyMap<Day, number>): DailyCloses | null {
  const days = [...closes.keys()].sort((a, b) => a - b);
  if (days.length === 0 || days[0] + MIN_HISTORY_DAYS - 1 > TRAINING_START) return null;
  const history = new Float64Array(days.at(-1)! - days[0] + 1).fill(Number.NaN);
  for (const day of days) history[day - days[0]] = closes.get(day)!;
  return { firstDay: days[0], closes: history };
}
