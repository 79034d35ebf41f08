import type { CellValue, DatasetColumn, TableEncoder } from './table.ts';

/** RFC 4180 with `\n`; null is an empty cell, times are ISO 8601. */
export function createCsvEncoder<Row>(columns: readonly DatasetColumn<Row>[]): TableEncoder<Row> {
  const formatLine = (cells: readonly string[]) => `${cells.join(',')}\n`;
  const batches = [Buffer.from(formatLine(columns.map(({ name }) => name)))];
  return {
    add(rows) {
      const lines = rows.map((row) => formatLine(columns.map((column) => formatCell(column.value(row)))));
      batches.push(Buffer.from(lines.join('')));
    },
    finish: () => Buffer.concat(batches),
  };
}

function formatCell(value: CellValue): string {
  if (value === null) return '';
  const text = value instanceof Date ? value.toISOString() : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
