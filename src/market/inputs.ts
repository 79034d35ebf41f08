import { createHash } from 'node:crypto';
import { OracleError } from '../errors.ts';
import { type Day, formatDay, toInstantMs } from '../forecast/day.ts';
import { computeParkinson } from '../forecast/features.ts';
import {
  BUSINESS_DAY_COLUMNS,
  type BusinessDayColumn,
  type BusinessDaySeries,
  countUntil,
  cutSeries,
  DAILY_COLUMNS,
  type DailyColumn,
  getFrameLength,
  getLastDay,
  type InputFrame,
  toRecord,
} from '../forecast/inputs.ts';
import { type Feed, getSignalTimeMs, type PriceRange, type SpotPrice } from './feed.ts';
import { createGrowableColumn, type GrowableColumn, type Observations, SERIES, type SeriesId } from './series.ts';

export interface InputProvenance {
  series: SeriesId;
  source: string;
  /** Date of the latest readable observation; null without one. */
  observedDay: Day | null;
  /** When that observation became known (ms). */
  availableAtMs: number | null;
  /** True when the input is missing or stale, and therefore NaN in the frame. */
  masked: boolean;
}

export interface DayInputs {
  day: Day;
  frame: InputFrame;
  digest: Hex;
  /** Of the highs and lows, which `digest` does not cover. */
  rangesDigest: Hex;
  /** The price in the last row: the spot price at the requested instant, or the close of a past day. */
  spot: SpotPrice;
  /** One entry per column of the frame; the first is the price, the last two are its high and low. */
  sources: InputProvenance[];
}

type FrameSeries = keyof FrameObservations;
/** Columns are named by their series, except the prices. */
const PRICE_SERIES = { close: 'btcClose', high: 'btcHigh', low: 'btcLow' } as const satisfies Partial<Record<FrameSeries, SeriesId>>;
type PriceColumn = keyof typeof PRICE_SERIES;
const isPriceColumn = (column: FrameSeries): column is PriceColumn => column in PRICE_SERIES;
const toSeriesId = (column: FrameSeries): SeriesId => (isPriceColumn(column) ? PRICE_SERIES[column] : column);
const FRAME_COLUMNS = [...DAILY_COLUMNS, ...BUSINESS_DAY_COLUMNS];
export const MODEL_SERIES: readonly SeriesId[] = FRAME_COLUMNS.map(toSeriesId);
const INPUT_COLUMNS = FRAME_COLUMNS.filter((column) => !isPriceColumn(column));

/** Returns a builder of model inputs that throws PRICE_UNAVAILABLE, HISTORY_TOO_SHORT and the errors of the feed. */
export function createInputsBuilder(feed: Feed, spotAt: (atMs: number) => Promise<SpotPrice>) {
  let history: FrameHistory | undefined;
  let revision = feed.historyRevision?.();

  /** Rows are appended to the rows of earlier frames, so a backfill of the past starts a new history. */
  function getHistory(firstDay: Day): FrameHistory {
    const current = feed.historyRevision?.();
    if (history === undefined || current !== revision) history = createFrameHistory(firstDay);
    revision = current;
    return history;
  }

  return async (day: Day, atMs: number): Promise<DayInputs> => {
    if (atMs < toInstantMs(day))
      throw new OracleError('PRICE_UNAVAILABLE', `${formatDay(day)} has not begun at ${new Date(atMs).toISOString()}`);
    const { firstDay } = await feed.coverage();
    const observations = await readObservations(feed, atMs);
    const isRunning = atMs < toInstantMs(day + 1);
    const spot = isRunning ? await spotAt(atMs) : toSpotPrice(observations, day);
    const range = isRunning ? keepPlausible(await feed.rangeSoFar(atMs)) : findRange(observations, day, atMs);
    const built = getHistory(firstDay).buildFrame({ day, atMs, lastClose: spot.priceUsd, lastRange: range, observations });
    const price = { source: spot.source, observedDay: day, availableAtMs: spot.observedAtMs, masked: false };
    const ranged = range === null ? { ...price, observedDay: null, availableAtMs: null, masked: true } : price;
    const sources: InputProvenance[] = [
      { series: 'btcClose', ...price },
      ...buildInputProvenance(built.observations, day, Math.min(atMs, getSignalTimeMs(day))),
      { series: 'btcHigh', ...ranged },
      { series: 'btcLow', ...ranged },
    ];
    const { frame } = built;
    return { day, frame, digest: computeInputsDigest(frame), rangesDigest: computeRangesDigest(frame), spot, sources };
  };
}

async function readObservations(feed: Feed, atMs: number): Promise<FrameObservations> {
  const entries = FRAME_COLUMNS.map(async (column) => [column, await feed.observations(toSeriesId(column), atMs)]);
  return Object.fromEntries(await Promise.all(entries)) as FrameObservations;
}

function toSpotPrice({ close }: FrameObservations, day: Day): SpotPrice {
  const index = requireCloseIndex(close, day);
  return { priceUsd: close.values[index], observedAtMs: close.availableAt[index], source: close.source, change24hPct: null };
}

function buildInputProvenance(observations: FrameObservations, day: Day, knownAtMs: number): InputProvenance[] {
  return INPUT_COLUMNS.map((series) => {
    const { source, days, availableAt } = observations[series];
    const index = findLastKnownIndex(observations[series], day - SERIES[series].lagDays, knownAtMs);
    if (index < 0) return { series, source, observedDay: null, availableAtMs: null, masked: true };
    const masked = day - days[index] > SERIES[series].staleDays;
    return { series, source, observedDay: days[index], availableAtMs: availableAt[index], masked };
  });
}

/** Index of the last observation dated `lastDay` or earlier and known at `knownAtMs`; -1 without one. */
export function findLastKnownIndex({ days, availableAt }: Observations, lastDay: Day, knownAtMs: number): number {
  return countUntil(availableAt, knownAtMs, countUntil(days, lastDay)) - 1;
}

/** Business-day observations start this many days before the first row, as lookback of its features. */
const BUSINESS_DAY_LOOKBACK_DAYS = 412;
export type FrameObservations = Record<DailyColumn | BusinessDayColumn, Observations>;

interface FrameRequest {
  /** Day of the last row, which holds values known by `atMs` and by 21:35 UTC. */
  day: Day;
  atMs: number;
  /** BTC/USD in the last row. */
  lastClose: number;
  /** High and low in the last row; null where there are none, or not a plausible pair. */
  lastRange: PriceRange | null;
  observations: FrameObservations;
}

type FrameHistory = ReturnType<typeof createFrameHistory>;
type PriceRow = Record<PriceColumn, number>;
type RowReader = (column: DailyColumn) => number;
type FrameColumns = Record<DailyColumn, GrowableColumn<Float64Array>>;

/** Incremental input frames of one feed: a frame costs a copy of its rows instead of a lookup of every observation. */
export function createFrameHistory(firstDay: Day) {
  const columns: FrameColumns = toRecord(DAILY_COLUMNS, () => createGrowableColumn(Float64Array));
  const etfFlowFilter = createEtfFlowFilter();

  function createFinishedRow(row: Day, observations: FrameObservations): RowReader {
    const close = observations.close.values[requireCloseIndex(observations.close, row)];
    const range = findRange(observations, row, getSignalTimeMs(row + 1));
    return createRowReader(row, getSignalTimeMs(row), observations, toPriceRow(close, range));
  }

  /** Appends the rows before `day - 1`, which are final: the range of a day may become known until the next signal. */
  function extendTo(day: Day, observations: FrameObservations): void {
    for (let row = firstDay + columns.close.length; row < day - 1; row++) {
      const valueIn = createFinishedRow(row, observations);
      for (const column of DAILY_COLUMNS) columns[column].push(valueIn(column));
    }
  }

  return {
    /** @throws OracleError HISTORY_TOO_SHORT, or PRICE_UNAVAILABLE when a day before the last has no close */
    buildFrame({ day, atMs, lastClose, lastRange, observations: raw }: FrameRequest) {
      if (day < firstDay)
        throw new OracleError('HISTORY_TOO_SHORT', `No history on ${formatDay(day)}: prices begin on ${formatDay(firstDay)}`);
      const observations = { ...raw, etfFlow: etfFlowFilter.update(raw.etfFlow, raw.sp500) };
      extendTo(day, observations);
      const knownAtMs = Math.min(atMs, getSignalTimeMs(day));
      const lastRow = createRowReader(day, knownAtMs, observations, toPriceRow(lastClose, lastRange));
      const newest = day === firstDay ? [lastRow] : [createFinishedRow(day - 1, observations), lastRow];
      const daily = copyRows(columns, day - firstDay + 1, newest);
      const business = toRecord(BUSINESS_DAY_COLUMNS, (column) => sliceBusinessDays(observations[column], firstDay, day, knownAtMs));
      return { frame: { firstDay, ...daily, ...business }, observations };
    },
  };
}

/** @throws OracleError PRICE_UNAVAILABLE when the day has no close */
function requireCloseIndex({ days, source }: Observations, day: Day): number {
  const index = countUntil(days, day) - 1;
  if (index >= 0 && days[index] === day) return index;
  throw new OracleError('PRICE_UNAVAILABLE', `No daily close of ${formatDay(day)} from ${source} yet`);
}

/** The range of a day known at an instant; null without a plausible one. */
function findRange({ high, low }: Pick<FrameObservations, 'high' | 'low'>, day: Day, knownAtMs: number): PriceRange | null {
  const [highIndex, lowIndex] = [findLastKnownIndex(high, day, knownAtMs), findLastKnownIndex(low, day, knownAtMs)];
  if (highIndex < 0 || lowIndex < 0 || high.days[highIndex] !== day || low.days[lowIndex] !== day) return null;
  return keepPlausible({ highUsd: high.values[highIndex], lowUsd: low.values[lowIndex] });
}

function keepPlausible(range: PriceRange | null): PriceRange | null {
  return range === null || computeParkinson(range.highUsd, range.lowUsd) === null ? null : range;
}

function toPriceRow(close: number, range: PriceRange | null): PriceRow {
  return { close, high: range?.highUsd ?? Number.NaN, low: range?.lowUsd ?? Number.NaN };
}

function createRowReader(day: Day, knownAtMs: number, observations: FrameObservations, prices: PriceRow): RowReader {
  return (column) => {
    if (isPriceColumn(column)) return prices[column];
    const { lagDays, staleDays } = SERIES[column];
    const index = findLastKnownIndex(observations[column], day - lagDays, knownAtMs);
    const fresh = index >= 0 && day - observations[column].days[index] <= staleDays;
    return fresh ? observations[column].values[index] : Number.NaN;
  };
}

/** Copies the final rows and adds the newest ones, so a returned frame never changes when the history grows. */
function copyRows(columns: FrameColumns, length: number, newest: readonly RowReader[]): Record<DailyColumn, Float64Array> {
  const storage = new Float64Array(DAILY_COLUMNS.length * length);
  const count = length - newest.length;
  return toRecord(DAILY_COLUMNS, (column, index) => {
    const copy = storage.subarray(index * length, (index + 1) * length);
    copy.set(columns[column].view().subarray(0, count));
    for (const [offset, valueIn] of newest.entries()) copy[count + offset] = valueIn(column);
    return copy;
  });
}

function sliceBusinessDays({ days, values, availableAt }: Observations, firstDay: Day, day: Day, knownAtMs: number) {
  const start = countUntil(days, firstDay - BUSINESS_DAY_LOOKBACK_DAYS - 1);
  const end = Math.max(start, countUntil(availableAt, knownAtMs, countUntil(days, day - 1)));
  return { days: days.subarray(start, end), values: values.subarray(start, end) };
}

/**
 * Keeps the ETF flows of S&P 500 trading days, because providers report a flow of zero on US holidays. A flow is available once both it
 * and the S&P 500 close of its date are; it stays pending until the S&P 500 has a value dated on or after it.
 */
export function createEtfFlowFilter() {
  const days = createGrowableColumn(Int32Array, 1024);
  const values = createGrowableColumn(Float64Array, 1024);
  const availableAt = createGrowableColumn(Float64Array, 1024);
  let next = 0;
  let latest = Number.NEGATIVE_INFINITY;

  function appendFlow(flows: Observations, index: number, tradingDayKnownAt: number): void {
    latest = Math.max(latest, flows.availableAt[index], tradingDayKnownAt);
    days.push(flows.days[index]);
    values.push(flows.values[index]);
    availableAt.push(latest);
  }

  return {
    /** All flows kept so far, those of earlier calls included. */
    update(flows: Observations, sp500: Observations): Observations {
      const lastTradingDay = sp500.days.at(-1) ?? Number.NEGATIVE_INFINITY;
      for (; next < flows.days.length && flows.days[next] <= lastTradingDay; next++) {
        const trading = countUntil(sp500.days, flows.days[next]) - 1;
        if (sp500.days[trading] === flows.days[next]) appendFlow(flows, next, sp500.availableAt[trading]);
      }
      return { source: flows.source, days: days.view(), values: values.view(), availableAt: availableAt.view() };
    },
  };
}

type Hex = `0x${string}`;

/** Reused across calls: a full history takes half a megabyte, and the function never yields while it uses the buffer. */
let scratch = Buffer.alloc(1 << 19);

/** The columns of the first version, which all models read; others have digests of their own. */
const DIGEST_COLUMNS = ['close', 'fearGreed', 'realizedPrice', 'takerBuyFraction', 'fundingRate', 'gold', 'pmi'] as const;
const DOMAIN_TAG = Buffer.from('oracle-inputs-1\n', 'ascii');
const RANGES_TAG = Buffer.from('oracle-ranges-1\n', 'ascii');

/**
 * sha2-256 of the model inputs of the frame's last day t. Integers are big-endian; a day is an int32 since 1970-01-01; a value is an
 * IEEE 754 float64 with masked as `7ff8000000000000` and unsigned zero. The hashed bytes:
 *
 * 1. the 16 ASCII bytes `oracle-inputs-1\n`;
 * 2. the first day, then the row count n as uint32;
 * 3. n values of each of close, fearGreed, realizedPrice, takerBuyFraction, fundingRate, gold, pmi, column by column;
 * 4. for each of etfFlow, sp500, dxy: the count m of observations dated t-1 or earlier as uint32, their m days, their m values.
 */
export function computeInputsDigest(frame: InputFrame): Hex {
  const business = BUSINESS_DAY_COLUMNS.map((column) => cutSeries(frame[column], getLastDay(frame) - 1));
  const bytes = getScratchBuffer(computeEncodedLength(frame, business));
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let offset = DOMAIN_TAG.copy(bytes);
  view.setInt32(offset, frame.firstDay);
  view.setUint32(offset + 4, getFrameLength(frame));
  offset += 8;
  for (const column of DIGEST_COLUMNS) offset = writeValues(view, offset, frame[column]);
  for (const series of business) offset = writeSeries(view, offset, series);
  return `0x${createHash('sha256').update(bytes).digest('hex')}`;
}

/**
 * sha2-256 of the highs and lows that a frame adds to the inputs above, encoded alike: the 16 ASCII bytes `oracle-ranges-1\n`, the first
 * day, the row count n, n highs, n lows.
 */
export function computeRangesDigest({ firstDay, high, low }: Pick<InputFrame, 'firstDay' | 'high' | 'low'>): Hex {
  const bytes = getScratchBuffer(RANGES_TAG.length + 8 + 2 * high.length * 8);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const offset = RANGES_TAG.copy(bytes);
  view.setInt32(offset, firstDay);
  view.setUint32(offset + 4, high.length);
  writeValues(view, writeValues(view, offset + 8, high), low);
  return `0x${createHash('sha256').update(bytes).digest('hex')}`;
}

function getScratchBuffer(length: number): Buffer {
  if (scratch.length < length) scratch = Buffer.alloc(length * 2);
  return scratch.subarray(0, length);
}

function computeEncodedLength(frame: InputFrame, business: BusinessDaySeries[]): number {
  const daily = DOMAIN_TAG.length + 8 + DIGEST_COLUMNS.length * getFrameLength(frame) * 8;
  return business.reduce((sum, series) => sum + 4 + series.days.length * 12, daily);
}

function writeSeries(view: DataView, start: number, { days, values }: BusinessDaySeries): number {
  view.setUint32(start, days.length);
  let offset = start + 4;
  for (let i = 0; i < days.length; i++, offset += 4) view.setInt32(offset, days[i]);
  return writeValues(view, offset, values);
}

function writeValues(view: DataView, start: number, values: Float64Array): number {
  let offset = start;
  for (let i = 0; i < values.length; i++, offset += 8) {
    const value = values[i];
    if (Number.isNaN(value)) {
      // ECMAScript does not specify the bit pattern of a stored NaN.
      view.setUint32(offset, 0x7ff80000);
      view.setUint32(offset + 4, 0);
    } else view.setFloat64(offset, value + 0);
  }
  return offset;
}
