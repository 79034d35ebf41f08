import { type Day, formatDay, parseDay } from '../../forecast/day.ts';
import { OracleError } from '../../platform/errors.ts';
import type { Observations } from '../series/observations.ts';
import { getPublicationMs, SERIES_IDS, type SeriesId } from '../series/series.ts';
import { type DatedColumn, readColumn } from './column.ts';
import { CSV_SOURCES, type CsvSource, FUND_FLOW_FILE } from './sources.ts';
import { type CsvTable, invalidCsv, readCsvTable } from './table.ts';

/**
 * Reads all `CSV_SOURCES` of a folder; a series without a file is empty. `fundFlows` are USD millions by ticker, empty for totals only.
 * @throws OracleError FEED_INVALID naming file and line
 */
export async function loadCsvFolder(folder: string) {
  const files = [...new Set(CSV_SOURCES.map((source) => source.file))];
  const tables = new Map(await Promise.all(files.map(async (file) => [file, await readCsvTable(folder, file)] as const)));
  const series = SERIES_IDS.map((id) => {
    const sources = CSV_SOURCES.filter((source) => source.series === id);
    return [id, joinSources(id, sources, tables, folder)] as const;
  });
  return {
    series: Object.fromEntries(series) as Record<SeriesId, Observations>,
    fundFlows: buildFundFlows(tables.get(FUND_FLOW_FILE.file) ?? null),
  };
}

function joinSources(id: SeriesId, sources: CsvSource[], tables: Map<string, CsvTable | null>, folder: string): Observations {
  const days: Day[] = [];
  const values: number[] = [];
  const used: string[] = [];
  for (const source of sources) {
    const table = tables.get(source.file) ?? null;
    if (table === null) rejectMissingRequired(source, folder);
    else if (appendSource(source, table, days, values)) used.push(source.file);
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

function rejectMissingRequired(source: CsvSource, folder: string): void {
  if (!source.required) return;
  const action = `Put ${source.file} with the columns ${source.dateColumn ?? 'date'} and ${source.column} there, or choose other FEEDS.`;
  throw new OracleError('FEED_INVALID', `${folder}: ${source.file} is missing`, { field: 'FEEDS', suggestedAction: action });
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
