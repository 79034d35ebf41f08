import { type Cell, getCellText, paintCell, type TerminalWriter } from './style.ts';

export interface TableColumn {
  title: string;
  right?: boolean;
  /** Dropped when the row is too wide, highest first; unset: never. */
  spare?: number;
}

const GAP = 2;

export interface RecordColumn<Row> extends TableColumn {
  cell(row: Row): Cell;
}

export function formatRecords<Row>(columns: readonly RecordColumn<Row>[], rows: readonly Row[], writer: TerminalWriter): string[] {
  const cells = rows.map((row) => columns.map((column) => column.cell(row)));
  return formatTerminalTable(columns, cells, writer);
}

/** Fits the width of the terminal: first drops spare columns, then truncates the widest. */
export function formatTerminalTable(columns: readonly TableColumn[], rows: readonly (readonly Cell[])[], writer: TerminalWriter): string[] {
  const texts = rows.map((row) => row.map(getCellText));
  const kept = chooseColumns(columns, texts, writer.width);
  const widths = fitWidths(columns, texts, { kept, width: writer.width });
  const line = (cells: readonly string[], paint: (index: number, text: string) => string) =>
    kept
      .map((index, place) => paint(index, fitCell(cells[index], widths[index], { ...columns[index], last: place === kept.length - 1 })))
      .join(' '.repeat(GAP))
      .trimEnd();
  const titles = columns.map(({ title }) => title);
  return [
    line(titles, (_, text) => writer.paint('dim', text)),
    ...texts.map((cells, row) => line(cells, (index, text) => paintCell(writer, rows[row][index], text))),
  ];
}

function chooseColumns(columns: readonly TableColumn[], texts: readonly string[][], width: number): number[] {
  const kept = columns.map((_, index) => index);
  const spares = kept.filter((index) => columns[index].spare !== undefined).sort((a, b) => columns[b].spare! - columns[a].spare!);
  while (spares.length > 0 && sumWidths(kept.map((index) => getNaturalWidth(columns, texts, index))) > width) {
    kept.splice(kept.indexOf(spares.shift()!), 1);
  }
  return kept;
}

function fitWidths(
  columns: readonly TableColumn[],
  texts: readonly string[][],
  { kept, width }: { kept: readonly number[]; width: number },
): number[] {
  const widths = columns.map((_, index) => getNaturalWidth(columns, texts, index));
  for (let excess = sumWidths(kept.map((index) => widths[index])) - width; excess > 0; ) {
    const widest = kept.reduce((best, index) => (widths[index] > widths[best] ? index : best));
    if (widths[widest] <= 4) break;
    const cut = Math.min(excess, widths[widest] - 4);
    widths[widest] -= cut;
    excess -= cut;
  }
  return widths;
}

function sumWidths(widths: readonly number[]): number {
  return widths.reduce((sum, width) => sum + width, 0) + GAP * Math.max(0, widths.length - 1);
}

function getNaturalWidth(columns: readonly TableColumn[], texts: readonly string[][], index: number): number {
  return Math.max(columns[index].title.length, ...texts.map((row) => row[index].length));
}

function fitCell(text: string, width: number, { right, last }: Pick<TableColumn, 'right'> & { last: boolean }): string {
  const cut = text.length > width ? `${text.slice(0, width - 1)}…` : text;
  if (right) return cut.padStart(width);
  return last ? cut : cut.padEnd(width);
}
