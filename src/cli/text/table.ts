import { type Cell, type Pen, painted, textOf } from './style.ts';

export interface Column {
  title: string;
  right?: boolean;
  /** Left out where there is no room for all, the highest first; unset: never. */
  spare?: number;
}

const GAP = 2;

/** Aligned columns below their titles, none beyond the width: first spare columns go, then the widest text is cut. */
export function table(columns: readonly Column[], rows: readonly (readonly Cell[])[], pen: Pen): string[] {
  const texts = rows.map((row) => row.map(textOf));
  const kept = keptColumns(columns, texts, pen.width);
  const widths = cutWidths(columns, texts, { kept, width: pen.width });
  const line = (cells: readonly string[], paint: (index: number, text: string) => string) =>
    kept
      .map((index, place) => paint(index, fitted(cells[index], widths[index], { ...columns[index], last: place === kept.length - 1 })))
      .join(' '.repeat(GAP))
      .trimEnd();
  const titles = columns.map(({ title }) => title);
  return [
    line(titles, (_, text) => pen.paint('dim', text)),
    ...texts.map((cells, row) => line(cells, (index, text) => painted(pen, rows[row][index], text))),
  ];
}

function keptColumns(columns: readonly Column[], texts: readonly string[][], width: number): number[] {
  const kept = columns.map((_, index) => index);
  const spares = kept.filter((index) => columns[index].spare !== undefined).sort((a, b) => columns[b].spare! - columns[a].spare!);
  while (spares.length > 0 && totalOf(kept.map((index) => naturalWidth(columns, texts, index))) > width) {
    kept.splice(kept.indexOf(spares.shift()!), 1);
  }
  return kept;
}

function cutWidths(
  columns: readonly Column[],
  texts: readonly string[][],
  { kept, width }: { kept: readonly number[]; width: number },
): number[] {
  const widths = columns.map((_, index) => naturalWidth(columns, texts, index));
  for (let excess = totalOf(kept.map((index) => widths[index])) - width; excess > 0; ) {
    const widest = kept.reduce((best, index) => (widths[index] > widths[best] ? index : best));
    if (widths[widest] <= 4) break;
    const cut = Math.min(excess, widths[widest] - 4);
    widths[widest] -= cut;
    excess -= cut;
  }
  return widths;
}

function totalOf(widths: readonly number[]): number {
  return widths.reduce((sum, width) => sum + width, 0) + GAP * Math.max(0, widths.length - 1);
}

function naturalWidth(columns: readonly Column[], texts: readonly string[][], index: number): number {
  return Math.max(columns[index].title.length, ...texts.map((row) => row[index].length));
}

function fitted(text: string, width: number, { right, last }: Pick<Column, 'right'> & { last: boolean }): string {
  const cut = text.length > width ? `${text.slice(0, width - 1)}…` : text;
  if (right) return cut.padStart(width);
  return last ? cut : cut.padEnd(width);
}
