import { z } from 'zod';
import { isOracleError, OracleError } from '../../errors.ts';
import { DAY_MS, type Day, formatDay, parseDay, toDay } from '../../forecast/day.ts';
import type { PriceRange, StrikeSnapshot } from '../feed.ts';
import type { Provider, ProviderAnswer, ProviderId, ProviderRequest } from '../live/provider.ts';

/** Days from `from` to `to`, both included. */
export interface DayRange {
  from: Day;
  to: Day;
}

export interface DatedValue {
  day: Day;
  value: number;
  /** Time of the value on the provider's clock (ms); null for a date only. */
  providerAtMs: number | null;
}

/**
 * One provider of one series. `fetch` returns the values dated within the range in the unit of the series, one per day, in any order.
 * @throws OracleError FEED_UNAVAILABLE, FEED_INVALID naming provider and field
 */
export interface SeriesSource {
  provider: ProviderId;
  /** First available day (YYYY-MM-DD), or the number of available days. */
  history: { from: string } | { days: number };
  pageDays: number;
  fetch(provider: Provider, range: DayRange): Promise<DatedValue[]>;
}

export function getFirstDay({ history }: Pick<SeriesSource, 'history'>, today: Day): Day {
  return 'from' in history ? parseDay(history.from) : today - history.days;
}

export interface VenueSource extends Omit<SeriesSource, 'fetch'> {
  /** Daily candles of the range, the running one included. A candle without a valid range is reported in the provider's health. */
  fetchCandles(provider: Provider, range: DayRange): Promise<DailyCandle[]>;
  fetchTicker(provider: Provider): Promise<VenueTicker>;
}

export interface DailyCandle {
  day: Day;
  /** The last price of a running candle. */
  closeUsd: number;
  /** Null when a price is missing, or high and low do not enclose open and close. */
  range: PriceRange | null;
  isFinished: boolean;
  /** End of the candle (ms). */
  providerAtMs: number;
}

interface VenueTicker {
  priceUsd: number;
  /** Time of the price on the provider's clock (ms); null where it sends none. */
  providerAtMs: number | null;
  /** 24-hour change in percent; null where the venue sends none. */
  change24hPct: number | null;
}

/** Net flows into US spot Bitcoin ETFs of one day, USD millions. */
export interface EtfDay {
  day: Day;
  totalMusd: number;
  /** By ticker; null for a provider with totals only. */
  fundsMusd: Record<string, number> | null;
}

export interface EtfSource extends Pick<SeriesSource, 'provider' | 'history'> {
  /** The reported days of the range, without US holidays and weekends. */
  fetch(provider: Provider, range: DayRange): Promise<EtfDay[]>;
}

/** A JSON number; zod rejects infinities. */
export const finite = z.number();
export const positive = finite.positive();
const decimalText = z.string().regex(/^[+-]?\d+(\.\d+)?([eE][+-]?\d+)?$/, 'is not a decimal number');
export const numeric = decimalText.transform(Number).pipe(finite);
export const positiveText = numeric.pipe(positive);
/** Milliseconds since 1970, as a number or in a string. */
export const epochMs = z.number().int().positive();
export const epochMsText = numeric.pipe(epochMs);

/** Validates a response, or its part at `path`. @throws OracleError FEED_INVALID naming the provider and the path of the first invalid field */
export function parseAnswer<Schema extends z.ZodType>(
  schema: Schema,
  body: unknown,
  providerTitle: string,
  path: readonly (string | number)[] = [],
): z.output<Schema> {
  const result = schema.safeParse(body);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const field = [...path, ...issue.path].join('.') || 'answer';
  throw invalidAnswer(providerTitle, field, issue.message);
}

export function invalidAnswer(providerTitle: string, field: string, problem: string, cause?: unknown): OracleError {
  return new OracleError('FEED_INVALID', `${providerTitle}: ${field} ${problem}`, { field, cause });
}

/** Names the provider in errors, and counts the rows that it sent in vain. */
export type RowReader = Pick<Provider, 'title' | 'leaveOut'>;

/** Parses each row by itself: an invalid row costs that row. `path` leads to the rows. @throws OracleError FEED_INVALID when no row is valid */
export function parseRows<Schema extends z.ZodType>(
  schema: Schema,
  rows: readonly unknown[],
  reader: RowReader,
  path: readonly string[] = [],
): z.output<Schema>[] {
  return requireUsable(rows, reader, (row, index) => parseAnswer(schema, row, reader.title, [...path, index]));
}

/** Reads each row by itself. @throws OracleError FEED_INVALID when none of them is usable; any error other than FEED_INVALID */
export function requireUsable<Row, T>(rows: readonly Row[], reader: RowReader, read: (row: Row, index: number) => T): T[] {
  const problems: OracleError[] = [];
  const usable = readUsable(rows, { title: reader.title, leaveOut: (problem) => problems.push(problem) }, read);
  if (usable.length === 0 && problems.length > 0) throw problems[0];
  for (const problem of problems) reader.leaveOut(problem);
  return usable;
}

/** As `requireUsable`, for rows of which all may be left out. */
export function readUsable<Row, T>(rows: readonly Row[], reader: RowReader, read: (row: Row, index: number) => T): T[] {
  return rows.flatMap((row, index) => {
    try {
      return [read(row, index)];
    } catch (error) {
      if (!isOracleError(error, 'FEED_INVALID')) throw error;
      reader.leaveOut(error);
      return [];
    }
  });
}

/** For providers that reject requests with status 200 and a code. @throws OracleError FEED_UNAVAILABLE */
export function requireAccepted(code: string | number, accepted: string | number, providerTitle: string): void {
  if (code !== accepted) throw new OracleError('FEED_UNAVAILABLE', `${providerTitle}: rejected with code ${code}`);
}

/** Requests and parses within one guarded call, because an unreadable response is a failure of the provider. */
export function fetchParsed<T>(provider: Provider, request: ProviderRequest, parse: (answer: ProviderAnswer) => T): Promise<T> {
  return provider.call(request.path, async () => parse(await provider.request(request)));
}

interface SourceOptions extends Omit<SeriesSource, 'fetch'> {
  /** Every finished day has a value: a response without one for a range of finished days is a failure. */
  daily?: true;
}

/** Values of a response in any order, possibly outside the range, with the time of its reception. */
export interface FetchedValues {
  values: DatedValue[];
  nowMs: number;
}

interface HttpSourceOptions extends SourceOptions {
  request(range: DayRange): ProviderRequest;
  read(body: unknown, range: DayRange, reader: RowReader, nowMs: number): DatedValue[];
}

export function createHttpSource({ request, read, ...source }: HttpSourceOptions): SeriesSource {
  return {
    ...source,
    fetch: (provider, range) =>
      fetchParsed(provider, request(range), ({ body, receivedAtMs: nowMs }) => {
        return selectValues(provider, range, { values: read(body, range, provider, nowMs), nowMs }, source);
      }),
  };
}

/** A daily series that takes several requests per page, all within the guarded call `what`. */
export function createCompositeSource({
  what,
  fetchValues,
  ...source
}: SourceOptions & { what: string; fetchValues(provider: Provider, range: DayRange): Promise<FetchedValues> }): SeriesSource {
  return {
    ...source,
    fetch: (provider, range) =>
      provider.call(what, async () => {
        return selectValues(provider, range, await fetchValues(provider, range), { ...source, daily: true });
      }),
  };
}

function selectValues(
  provider: Provider,
  range: DayRange,
  { values, nowMs }: FetchedValues,
  { daily, history }: SourceOptions,
): DatedValue[] {
  const selected = selectWithinRange(values, range, provider, nowMs);
  if (daily) requireFinishedDay(selected, range, { history, title: provider.title, nowMs });
  return selected;
}

type Dated = Pick<DatedValue, 'day' | 'providerAtMs'>;

/**
 * The last value of each day by provider time, within the range. A value dated after tomorrow is left out.
 * @throws OracleError FEED_INVALID when all values are
 */
export function selectWithinRange<Value extends Dated>(
  values: readonly Value[],
  { from, to }: DayRange,
  reader: RowReader,
  nowMs: number,
): Value[] {
  const byDay = new Map<Day, Value>();
  for (const value of leaveOutFuture(values, reader, nowMs)) {
    const known = byDay.get(value.day);
    const older = known !== undefined && (value.providerAtMs ?? 0) < (known.providerAtMs ?? 0);
    if (value.day >= from && value.day <= to && !older) byDay.set(value.day, value);
  }
  return [...byDay.values()];
}

/** Without the values dated after tomorrow. @throws OracleError FEED_INVALID when all values are */
export function leaveOutFuture<Value extends { day: Day }>(values: readonly Value[], reader: RowReader, nowMs: number): Value[] {
  return requireUsable(values, reader, (value) => {
    if (value.day <= toDay(nowMs) + 1) return value;
    throw invalidAnswer(reader.title, 'date', `${formatDay(value.day)} is in the future`);
  });
}

/** An empty old page marks the start of a provider's history; an empty recent page is a failure. */
const RECENT_DAYS = 31;

/** @throws OracleError FEED_UNAVAILABLE when the range has recent finished days of the provider's history and none has a value */
export function requireFinishedDay(
  values: readonly Dated[],
  range: DayRange,
  { history, title, nowMs }: { history: SeriesSource['history']; title: string; nowMs: number },
): void {
  const today = toDay(nowMs);
  const from = Math.max(range.from, getFirstDay({ history }, today));
  const to = Math.min(range.to, today - 1);
  if (from > to || to < today - RECENT_DAYS || values.some(({ day }) => day >= from && day <= to)) return;
  throw new OracleError('FEED_UNAVAILABLE', `${title}: no value from ${formatDay(from)} to ${formatDay(to)}`);
}

/** A contract price in dollars, which is a probability. */
export const contractPrice = finite.min(0).max(1);

export interface StrikeSource {
  /** The providers that `fetch` queries; the first is required. */
  providers: readonly [ProviderId, ...ProviderId[]];
  /**
   * The open bitcoin strikes that expire after `atMs`, near `spotUsd`, each once, in any order. An invalid market is left out.
   * @throws OracleError FEED_UNAVAILABLE without any, FEED_INVALID naming provider and field when none is valid
   */
  fetch(providers: Readonly<Record<ProviderId, Provider>>, query: { spotUsd: number; atMs: number }): Promise<StrikeSnapshot[]>;
}

/** Keeps the problems of rows beside counting them: a venue whose markets are all invalid is not a venue without markets. */
export function keepProblems(provider: Provider): { reader: RowReader; problems: OracleError[] } {
  const problems: OracleError[] = [];
  const leaveOut = (problem: OracleError) => {
    problems.push(problem);
    provider.leaveOut(problem);
  };
  return { reader: { title: provider.title, leaveOut }, problems };
}

const MAX_QUESTION_LENGTH = 200;
const MAX_RESOLUTION_LENGTH = 500;

/** Sanitizes untrusted text of a venue to one line of bounded length without control and invisible characters. */
export function boundVenueTexts(question: string, resolution: string): Pick<StrikeSnapshot, 'question' | 'resolution'> {
  return { question: truncateText(question, MAX_QUESTION_LENGTH), resolution: truncateText(resolution, MAX_RESOLUTION_LENGTH) };
}

function truncateText(text: string, length: number): string {
  const plain = text.replaceAll(/[\p{C}\s]+/gu, ' ').trim();
  return [...plain].slice(0, length).join('');
}

/** Price of an offer or trade; null for 0 and 1, which venues send for a missing one. */
export function toOfferPrice(price: number | null | undefined): number | null {
  return price != null && price > 0 && price < 1 ? price : null;
}

export const amount = finite.or(numeric);
export const price = amount.pipe(positive);
export const orNull = <Schema extends z.ZodType>(schema: Schema) => schema.nullish().transform((value) => value ?? null);

/** An invalid open, high or low does not invalidate the close. */
const rangePrice = price.nullable().catch(null);
/** Open time, open, high, low, close. */
const candleRow = z.tuple([epochMs.multipleOf(DAY_MS), rangePrice, rangePrice, rangePrice, price], z.unknown());

interface HttpVenueOptions extends Omit<VenueSource, 'fetchCandles' | 'fetchTicker'> {
  candlesRequest(range: DayRange): ProviderRequest;
  /** Parses a response to rows that begin as `candleRow`, if they are valid. */
  candles: z.ZodType<unknown[]>;
  tickerRequest: ProviderRequest;
  ticker: z.ZodType<VenueTicker>;
  /** Throws for an error in a response with status 200. */
  requireAccepted?(body: unknown, request: ProviderRequest, title: string): void;
}

/** A venue whose daily candles and ticker are one public request each. */
export function createHttpVenue(options: HttpVenueOptions): VenueSource {
  const { candlesRequest, candles, tickerRequest, ticker, requireAccepted, ...venue } = options;
  return {
    ...venue,
    async fetchCandles(provider, range) {
      const fetched = await provider.call('daily candles', async () => {
        const { title } = provider;
        const request = candlesRequest(range);
        const { body, receivedAtMs: nowMs } = await provider.request(request);
        requireAccepted?.(body, request, title);
        const rows = parseRows(candleRow, parseAnswer(candles, body, title), provider, ['candles']);
        const parsed = rows.map((row) => toCandle(row, nowMs));
        const selected = selectWithinRange(parsed, range, provider, nowMs).filter(({ day }) => day <= toDay(nowMs));
        requireFinishedDay(selected, range, { history: venue.history, title, nowMs });
        return selected;
      });
      reportRanges(fetched, provider);
      return fetched;
    },
    fetchTicker: (provider) =>
      provider.call('ticker', async () => {
        const { title } = provider;
        const { body, receivedAtMs: nowMs } = await provider.request(tickerRequest);
        requireAccepted?.(body, tickerRequest, title);
        const current = parseAnswer(ticker, body, title);
        if ((current.providerAtMs ?? 0) <= nowMs + DAY_MS) return current;
        throw new OracleError('FEED_INVALID', `${title}: timestamp is in the future`, { field: 'timestamp' });
      }),
  };
}

function toCandle([opensAtMs, open, high, low, closeUsd]: z.output<typeof candleRow>, nowMs: number): DailyCandle {
  const day = toDay(opensAtMs);
  const isKnown = open !== null && high !== null && low !== null;
  const encloses = isKnown && high >= Math.max(open, closeUsd) && low <= Math.min(open, closeUsd);
  const range = encloses ? { highUsd: high, lowUsd: low } : null;
  return { day, closeUsd, range, isFinished: day < toDay(nowMs), providerAtMs: opensAtMs + DAY_MS };
}

/** Not a failed call: the closes are used, and the circuit stays closed. Both kinds of candles come in requests of their own. */
function reportRanges(candles: readonly DailyCandle[], provider: Provider): void {
  for (const isFinished of [true, false]) {
    const ranged = candles.filter((candle) => candle.isFinished === isFinished);
    const invalid = ranged.find(({ range }) => range === null);
    if (ranged.length === 0) continue;
    const problem =
      invalid && invalidAnswer(provider.title, `the range of ${formatDay(invalid.day)}`, 'is missing or does not fit the candle');
    provider.recordProblem(isFinished ? 'daily ranges' : 'running range', problem ?? null);
  }
}
