import { inspect, styleText } from 'node:util';
import { toPlainLine } from '../../verify/findings.ts';
import type { CliContext, TerminalOutput } from './context.ts';

export const NONE = '-';

/** `58.4 %` for 0.584. */
export function formatPercentOrDash(share: number | null, digits = 1): string {
  return share === null ? NONE : `${(share * 100).toFixed(digits)} %`;
}

/** `0.31 to 0.86`. */
export function formatRange(range: { low: number | null; high: number | null } | null): string {
  if (range === null || range.low === null || range.high === null) return NONE;
  return `${range.low.toFixed(2)} to ${range.high.toFixed(2)}`;
}

/** `98,916.21`. */
export function formatUsdAmount(usd: number | null, digits = 2): string {
  if (usd === null) return NONE;
  return usd.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits, signDisplay: 'negative' });
}

/** `+2.37 %` for 237 basis points. */
export function formatReturn(bps: number | null): string {
  return bps === null ? NONE : `${bps < 0 ? '' : '+'}${(bps / 100).toFixed(2)} %`;
}

/** `2026-11-21 21:35` UTC for an ISO 8601 time. */
export function formatMinute(time: string | Date): string {
  const text = typeof time === 'string' ? time : time.toISOString();
  return text.slice(0, 16).replace('T', ' ');
}

const INDENT = 2;
const GAP = 2;
const MARK_WIDTH = 8;

/** Label and value rows; long values wrap below themselves. Rows with a null value are left out. */
export function formatFacts(rows: readonly (readonly [string, Cell | null])[], writer: TerminalWriter): string[] {
  const present = rows.filter((row): row is [string, Cell] => row[1] !== null);
  const labels = Math.max(0, ...present.map(([label]) => label.length));
  const room = writer.width - INDENT - labels - GAP;
  return present.flatMap(([label, cell]) =>
    wrapText(getCellText(cell), room).map((line, index) => {
      const name = writer.paint('dim', (index === 0 ? label : '').padEnd(labels));
      return `${' '.repeat(INDENT)}${name}${' '.repeat(GAP)}${paintCell(writer, cell, line)}`;
    }),
  );
}

/** Checks with their results as text, so that colour is not needed. */
export function formatCheckLines(checks: readonly { what: string; ok: boolean }[], writer: TerminalWriter): string[] {
  return checks.flatMap(({ what, ok }) => {
    const mark = ok ? writer.paint('green', '  ok    ') : writer.paint('red', '  NOT OK');
    const lines = wrapText(what, writer.width - MARK_WIDTH - GAP);
    return lines.map((line, index) => `${index === 0 ? mark : ' '.repeat(MARK_WIDTH)}${' '.repeat(GAP)}${line}`);
  });
}

/** Breaks between words at `width` characters; a longer word stays whole. */
export function wrapText(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of toPlainLine(text).split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

/** More lines of one section are counted only. */
const MAX_SECTION_LINES = 50;

/** Titles with their lines, each after a blank line; sections without lines are left out. */
export function formatSections(sections: Readonly<Record<string, readonly string[]>>, { width }: TerminalWriter): string[] {
  return Object.entries(sections).flatMap(([title, lines]) => {
    if (lines.length === 0) return [];
    const more = lines.length - MAX_SECTION_LINES;
    const shown = [...lines.slice(0, MAX_SECTION_LINES), ...(more > 0 ? [`... and ${more} more (all of them with --json)`] : [])];
    return ['', `${title}:`, ...shown.flatMap((line) => wrapText(line, width - INDENT).map((part) => `${' '.repeat(INDENT)}${part}`))];
  });
}

const STYLES = ['bold', 'dim', 'red', 'green', 'yellow', 'cyan'] as const;

export type Style = (typeof STYLES)[number];
export type Cell = string | { text: string; style: Style };

export interface TerminalWriter {
  width: number;
  /** Colour never carries information of its own: without colours the text is the same. */
  paint(style: Style, text: string): string;
}

const DEFAULT_WIDTH = 80;
const MIN_WIDTH = 40;

/** Paints on terminals only, unless NO_COLOR or TERM=dumb is set. */
export function createTerminalWriter({ isTTY, columns }: TerminalOutput, { environment }: Pick<CliContext, 'environment'>): TerminalWriter {
  const { NO_COLOR = '', TERM } = environment;
  const coloured = isTTY === true && NO_COLOR === '' && TERM !== 'dumb';
  return {
    // Terminals of unknown width report 0 columns.
    width: columns ? Math.max(MIN_WIDTH, columns) : DEFAULT_WIDTH,
    paint: (style, text) => {
      const safe = text.replace(CONTROL_CHARACTERS, '\uFFFD');
      return coloured && text !== '' ? styleText(style, safe, { validateStream: false }) : safe;
    },
  };
}

/** Characters that control a terminal or reorder its text. */
const CONTROL_CHARACTERS = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;
const COLOUR_SEQUENCE = new RegExp(`^\\[(?:${STYLES.flatMap((style) => inspect.colors[style]).join('|')})m`);

/** Keeps the escape sequences of `paint` and replaces every other control character. */
export function sanitizeLine(line: string): string {
  return line.replace(CONTROL_CHARACTERS, (character, at: number) => {
    return character === '\x1b' && COLOUR_SEQUENCE.test(line.slice(at + 1, at + 5)) ? character : '\uFFFD';
  });
}

export function getCellText(cell: Cell): string {
  return toPlainLine(typeof cell === 'string' ? cell : cell.text);
}

/** @param text of the cell, padded or cut */
export function paintCell(writer: TerminalWriter, cell: Cell, text: string): string {
  return typeof cell === 'string' ? text : writer.paint(cell.style, text);
}

const VALUE_STYLES: Record<string, Style> = {
  WIN: 'green',
  BUY: 'green',
  UP: 'green',
  LOSS: 'red',
  SELL: 'red',
  DOWN: 'red',
  HOLD: 'yellow',
  GATED: 'yellow',
  PENDING: 'dim',
  VOID: 'dim',
};

export function styleValue(value: string): Cell {
  const style = VALUE_STYLES[value];
  return style === undefined ? value : { text: value, style };
}

interface TableColumn {
  title: string;
  right?: boolean;
  /** Dropped when the row is too wide, highest first; unset: never. */
  spare?: number;
  /** What the column shows: explained below the table, as long as the column is in it. */
  legend?: string;
}

export interface RecordColumn<Row> extends TableColumn {
  cell(row: Row): Cell;
}

/**
 * A table that fits the width of the terminal: first it drops spare columns, then it truncates the widest.
 * @param facts rows below the table, after the legends of its columns
 */
export function formatRecords<Row>(
  columns: readonly RecordColumn<Row>[],
  records: readonly Row[],
  writer: TerminalWriter,
  facts: Parameters<typeof formatFacts>[0] = [],
): string[] {
  const rows = records.map((record) => columns.map((column) => column.cell(record)));
  const texts = rows.map((row) => row.map(getCellText));
  const kept = chooseColumns(columns, texts, writer.width);
  const widths = fitWidths(columns, texts, { kept, width: writer.width });
  const line = (cells: readonly string[], paint: (index: number, text: string) => string) =>
    kept
      .map((index, place) => paint(index, fitCell(cells[index], widths[index], { ...columns[index], last: place === kept.length - 1 })))
      .join(' '.repeat(GAP))
      .trimEnd();
  const titles = columns.map(({ title }) => title);
  const legends = kept.flatMap((index): [string, string][] => {
    const { title, legend } = columns[index];
    return legend === undefined ? [] : [[`${title[0].toUpperCase()}${title.slice(1)}`, legend]];
  });
  const below = formatFacts([...legends, ...facts], writer);
  return [
    line(titles, (_, text) => writer.paint('dim', text)),
    ...texts.map((cells, row) => line(cells, (index, text) => paintCell(writer, rows[row][index], text))),
    ...(below.length === 0 ? [] : ['', ...below]),
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

const BAR_CHARS = 21;

/** `    |---o------|      `: an estimate with its interval on a common axis; empty without one. */
export function formatErrorBar(
  value: number | null,
  range: { low: number | null; high: number | null } | null,
  { min, max }: { min: number; max: number },
): string {
  if (value === null || range === null || range.low === null || range.high === null || !(max > min)) return '';
  const place = (at: number) => Math.round((Math.min(max, Math.max(min, at)) - min) * ((BAR_CHARS - 1) / (max - min)));
  const [low, middle, high] = [place(range.low), place(value), place(range.high)];
  return Array.from({ length: BAR_CHARS }, (_, at) => {
    if (at === middle) return 'o';
    if (at === low || at === high) return '|';
    return at > low && at < high ? '-' : ' ';
  }).join('');
}
