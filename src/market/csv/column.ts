import { type Day, formatDay, parseDay } from '../../forecast/day.ts';
import type { CsvSource } from './sources.ts';
import { type CsvTable, invalidCsv } from './table.ts';

export interface DatedColumn {
  days: Day[];
  values: number[];
  lines: number[];
}

/** @throws OracleError FEED_INVALID naming file and line for a missing column, an invalid cell, or dates out of order or repeated */
export function readColumn(table: CsvTable, source: Pick<CsvSource, 'column' | 'dateColumn'>): DatedColumn {
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
    if (previous !== null && day <= previous) throw outOfOrder(table.path, line, day, previous);
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

function outOfOrder(path: string, line: number, day: Day, previous: Day) {
  const problem = day === previous ? `${formatDay(day)} appears twice` : `${formatDay(day)} follows ${formatDay(previous)}`;
  return invalidCsv(path, line, problem, 'Sort the rows by date, one row a date.');
}
