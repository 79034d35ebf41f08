import { readFile, stat } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { CsvError, parse } from 'csv-parse/sync';
import { getErrorMessage, OracleError } from '../errors.ts';
import { type Day, formatDay, parseDay, toDay, toInstantMs } from '../forecast/day.ts';
import { toRecord } from '../forecast/inputs.ts';
import { type Feed, getSignalTimeMs, type PriceRange, type SpotPrice } from './feed.ts';
import { findSpotFromCloses, toVenueClose } from './quorum.ts';
import {
  findValueAt,
  getNextPublicationMs,
  getPublicationMs,
  type Observations,
  SERIES_IDS,
  type SeriesId,
  sliceKnownAt,
} from './series.ts';

/** Opens a folder of CSV files (`CSV_SOURCES`) as a feed. @throws OracleError FEED_INVALID naming file and line */
export async function openCsvFeed(folder: string): Promise<Feed> {
  await requireFolder(folder);
  const { series, fundFlows } = await loadCsvFolder(folder);
  const closes = series.btcClose;
  if (closes.days.length === 0)
    throw new OracleError('FEED_INVALID', `${folder}: btc_daily.csv holds no price`, {
      field: 'FEEDS',
      suggestedAction: 'Add rows to it.',
    });
  const firstDay: Day = closes.days[0];
  const lastDay = closes.days.at(-1) as Day;
  const source = `csv:${basename(resolve(folder))}`;
  const spot = (atMs: number): SpotPrice => {
    const price = findSpotFromCloses(closes, atMs);
    if (price !== null) return { ...price, source };
    const covers = `${source} covers ${formatDay(firstDay)} to ${formatDay(lastDay)}`;
    throw new OracleError('PRICE_UNAVAILABLE', `No price at ${new Date(atMs).toISOString()}: ${covers}`);
  };

  return {
    kind: 'csv',
    source,
    coverage: async () => ({ firstDay, lastDay }),
    observations: async (id, atMs) => sliceKnownAt(series[id], atMs),
    spot: async (atMs) => spot(atMs),
    rangeSoFar: async (atMs) => findRangeSoFar(series, atMs),
    dailyCloses: async (day, atMs) => [
      toVenueClose(source, { day, atMs, priceUsd: findValueAt(closes, day), missingReason: 'not in the files' }),
    ],
    fundFlows: async (atMs) => Object.fromEntries(Object.entries(fundFlows).map(([ticker, flows]) => [ticker, sliceKnownAt(flows, atMs)])),
    strikes: async () => [],
    nextChangeAt: async (what, atMs) => (what === 'spot' ? getNextSpotChangeMs(atMs) : getNextPublicationMs(what, atMs)),
    providerHealth: async () => [],
  };
}

async function requireFolder(folder: string): Promise<void> {
  const found = await stat(folder).catch(() => null);
  if (found?.isDirectory()) return;
  const problem = found ? 'is not a folder' : 'does not exist';
  const suggestedAction = 'Set FEEDS=csv:<folder> to a folder with btc_daily.csv, or FEEDS=simulated.';
  throw new OracleError('FEED_INVALID', `${resolve(folder)} ${problem}`, { field: 'FEEDS', suggestedAction });
}

/** As the close stands for the price from 21:35 UTC on, so do high and low of the day for those so far; before there are none. */
function findRangeSoFar({ btcHigh, btcLow }: Record<'btcHigh' | 'btcLow', Observations>, atMs: number): PriceRange | null {
  const today = toDay(atMs);
  const [highUsd, lowUsd] = [findValueAt(btcHigh, today), findValueAt(btcLow, today)];
  return highUsd === null || lowUsd === null || atMs < getSignalTimeMs(today) ? null : { highUsd, lowUsd };
}

/** The spot price changes at 21:35 UTC; at 00:00 UTC its observation time does. */
function getNextSpotChangeMs(atMs: number): number {
  const today = toDay(atMs);
  return atMs < getSignalTimeMs(today) ? getSignalTimeMs(today) : toInstantMs(today + 1);
}

/**
 * Reads all `CSV_SOURCES` of a folder; a series without a file is empty. `fundFlows` are USD millions by ticker, empty for totals only.
 * @throws OracleError FEED_INVALID naming file and line
 */
async function loadCsvFolder(folder: string) {
  const files = [...new Set(CSV_SOURCES.map((source) => source.file))];
  const tables = new Map(await Promise.all(files.map(async (file) => [file, await readCsvTable(folder, file)] as const)));
  return {
    series: toRecord(SERIES_IDS, (id) => joinSources(id, tables, folder)),
    fundFlows: buildFundFlows(tables.get(FUND_FLOW_FILE.file) ?? null),
  };
}

function joinSources(id: SeriesId, tables: Map<string, CsvTable | null>, folder: string): Observations {
  const sources = CSV_SOURCES.filter((source) => source.series === id);
  const days: Day[] = [];
  const values: number[] = [];
  const used: string[] = [];
  for (const source of sources) {
    const table = tables.get(source.file) ?? null;
    if (table === null && source.required) {
      const action = `Put ${source.file} with the columns ${source.dateColumn ?? 'date'} and ${source.column} there, or choose other FEEDS.`;
      throw new OracleError('FEED_INVALID', `${folder}: ${source.file} is missing`, { field: 'FEEDS', suggestedAction: action });
    }
    if (table !== null && appendSource(source, table, days, values)) used.push(source.file);
  }
  const missing = sources.map((source) => source.file).join(', ');
  return toObservations(id, used.length > 0 ? used.join(' + ') : `none (${missing} is missing or empty)`, { days, values });
}

function buildFundFlows(table: CsvTable | null): Record<string, Observations> {
  if (table === null) return {};
  const tickers = table.header.filter((name) => name !== 'date' && name !== FUND_FLOW_FILE.totalColumn);
  return Object.fromEntries(
    tickers.map((column) => [column, toObservations('etfFlow', FUND_FLOW_FILE.file, readColumn(table, { column }))] as const),
  );
}

function toObservations(id: SeriesId, source: string, { days, values }: Pick<DatedColumn, 'days' | 'values'>): Observations {
  return {
    source,
    days: Int32Array.from(days),
    values: Float64Array.from(values),
    availableAt: Float64Array.from(days, (day) => getPublicationMs(id, day)),
  };
}

/** Appends the values after the last day so far. @returns whether there were any */
function appendSource(source: CsvSource, table: CsvTable, days: Day[], values: number[]): boolean {
  if (source.optionalColumn && !table.header.includes(source.column)) return false;
  const column = readColumn(table, source);
  if (source.series === 'btcClose') requirePositive(table, column, source);
  const after = days.at(-1) ?? Number.NEGATIVE_INFINITY;
  const through = source.through === undefined ? Number.POSITIVE_INFINITY : parseDay(source.through);
  const before = days.length;
  column.days.forEach((day, index) => {
    if (day <= after || day > through) return;
    if (source.series === 'btcClose') requireConsecutive(table, column.lines[index], days.at(-1), day);
    days.push(day);
    values.push(column.values[index]);
  });
  return days.length > before;
}

function requirePositive(table: CsvTable, column: DatedColumn, source: CsvSource): void {
  const index = column.values.findIndex((value) => value <= 0);
  if (index < 0) return;
  const problem = `"${column.values[index]}" in column "${source.column}" is not a price`;
  throw invalidCsv(table.path, column.lines[index], problem, 'Prices are greater than 0.');
}

function requireConsecutive(table: CsvTable, line: number, previous: Day | undefined, day: Day): void {
  if (previous === undefined || day === previous + 1) return;
  const problem = `no price of ${formatDay(previous + 1)} before that of ${formatDay(day)}`;
  throw invalidCsv(table.path, line, problem, 'Add the missing days: the forecast never guesses a price.');
}

interface DatedColumn {
  days: Day[];
  values: number[];
  lines: number[];
}

/** @throws OracleError FEED_INVALID naming file and line for a missing column, an invalid cell, or dates out of order or repeated */
function readColumn(table: CsvTable, source: Pick<CsvSource, 'column' | 'dateColumn'>): DatedColumn {
  const dateColumn = source.dateColumn ?? 'date';
  const dateIndex = findColumnIndex(table, dateColumn);
  const valueIndex = findColumnIndex(table, source.column);
  const column: DatedColumn = { days: [], values: [], lines: [] };
  let previous: Day | null = null;
  table.rows.forEach((row, index) => {
    const line = table.lines[index];
    // An unreleased figure has neither a date nor a value.
    if (row[dateIndex] === '' && row[valueIndex] === '') return;
    const day = parseDayCell(table.path, line, dateColumn, row[dateIndex]);
    if (previous !== null && day <= previous) {
      const problem = day === previous ? `${formatDay(day)} appears twice` : `${formatDay(day)} follows ${formatDay(previous)}`;
      throw invalidCsv(table.path, line, problem, 'Sort the rows by date, one row a date.');
    }
    previous = day;
    if (row[valueIndex] === '') return;
    column.days.push(day);
    column.values.push(parseNumberCell(table.path, line, source.column, row[valueIndex]));
    column.lines.push(line);
  });
  return column;
}

function findColumnIndex(table: CsvTable, name: string): number {
  const index = table.header.indexOf(name);
  if (index >= 0) return index;
  const action = `Name the column "${name}" in the header; it has: ${table.header.join(', ')}.`;
  throw invalidCsv(table.path, 1, `column "${name}" is missing`, action);
}

function parseDayCell(path: string, line: number, name: string, text: string): Day {
  try {
    return parseDay(text);
  } catch (error) {
    throw invalidCsv(path, line, `"${text}" in column "${name}" is not a date`, 'Write dates as YYYY-MM-DD.', error);
  }
}

function parseNumberCell(path: string, line: number, name: string, text: string): number {
  const value = Number(text);
  if (Number.isFinite(value)) return value;
  throw invalidCsv(path, line, `"${text}" in column "${name}" is not a number`, 'Write a number with a point, or leave the cell empty.');
}

interface CsvSource {
  series: SeriesId;
  file: string;
  column: string;
  /** Default `date`. */
  dateColumn?: string;
  /** Last date (YYYY-MM-DD) read from this file; the series continues with its next source. */
  through?: string;
  required?: boolean;
  /** The file may lack the column. */
  optionalColumn?: boolean;
}

/** One column of totals and one column for each fund, named by its ticker. */
const FUND_FLOW_FILE = { file: 'etf_flows_farside.csv', totalColumn: 'total_musd' } as const;

/** The files of a folder. Sources of one series are concatenated in this order. */
const CSV_SOURCES: readonly CsvSource[] = [
  // Closes of several venues before 2014-03 are broken; the on-chain provider's price is more reliable.
  { series: 'btcClose', file: 'onchain_coinmetrics.csv', column: 'price_usd', through: '2014-02-28' },
  { series: 'btcClose', file: 'btc_daily.csv', column: 'close_median', required: true },
  { series: 'btcHigh', file: 'btc_daily.csv', column: 'high', optionalColumn: true },
  { series: 'btcLow', file: 'btc_daily.csv', column: 'low', optionalColumn: true },
  { series: 'fearGreed', file: 'fear_greed_daily.csv', column: 'fng' },
  { series: 'realizedPrice', file: 'onchain_coinmetrics.csv', column: 'realized_price_usd' },
  { series: 'sthRealizedPrice', file: 'sth_realized_price_daily.csv', column: 'sth_realized_price_usd' },
  { series: 'takerBuyFraction', file: 'taker_flow_binance_daily.csv', column: 'buy_frac' },
  { series: 'fundingRate', file: 'funding_binance_daily.csv', column: 'funding_rate' },
  { series: 'openInterest', file: 'open_interest_daily.csv', column: 'open_interest_usd' },
  { series: 'perpBasis', file: 'perp_basis_daily.csv', column: 'basis' },
  { series: 'dvol', file: 'dvol_daily.csv', column: 'dvol' },
  { series: 'etfFlow', file: FUND_FLOW_FILE.file, column: FUND_FLOW_FILE.totalColumn },
  { series: 'sp500', file: 'sp500_daily.csv', column: 'close' },
  { series: 'dxy', file: 'dxy_daily.csv', column: 'close' },
  { series: 'gold', file: 'gold_daily.csv', column: 'close' },
  { series: 'vix', file: 'vix_daily.csv', column: 'close' },
  { series: 'us2y', file: 'us2y_daily.csv', column: 'close' },
  { series: 'us10y', file: 'us10y_daily.csv', column: 'close' },
  { series: 'fedFunds', file: 'fed_funds_daily.csv', column: 'dff' },
  { series: 'policyRate', file: 'fed_policy_rate_upper_monthly.csv', column: 'rate' },
  { series: 'pmi', file: 'ism_manufacturing_pmi_monthly.csv', column: 'pmi_first_print', dateColumn: 'release_date' },
];

type CsvTable = NonNullable<Awaited<ReturnType<typeof readCsvTable>>>;

/**
 * Reads a CSV file, each row with as many cells as the header and the number of its line (the header is line 1); null when it does not
 * exist.
 * @throws OracleError FEED_INVALID naming file and line
 */
async function readCsvTable(folder: string, file: string) {
  const path = join(folder, file);
  const text = await readOptionalFile(path);
  if (text === null) return null;
  const [header, ...rows] = parseRows(path, text);
  if (header === undefined) throw invalidCsv(path, 1, 'the file is empty', 'Write a header line and at least one row.');
  return { path, header: header.record, rows: rows.map((row) => row.record), lines: rows.map((row) => row.info.lines) };
}

function invalidCsv(path: string, line: number | null, problem: string, suggestedAction: string, cause?: unknown): OracleError {
  const place = line === null ? path : `${path}, line ${line}`;
  return new OracleError('FEED_INVALID', `${place}: ${problem}`, { suggestedAction, cause });
}

async function readOptionalFile(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw invalidCsv(path, null, `cannot be read (${getErrorMessage(error)})`, 'Make the file readable for this process.', error);
  }
}

function parseRows(path: string, text: string): { record: string[]; info: { lines: number } }[] {
  try {
    return parse(text, { bom: true, info: true, skip_empty_lines: true, trim: true }) as unknown as ReturnType<typeof parseRows>;
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const line = typeof error.lines === 'number' ? error.lines : null;
    const problem = `not readable as CSV (${error.message})`;
    throw invalidCsv(path, line, problem, 'Correct the quotes or the number of cells on that line.', error);
  }
}
