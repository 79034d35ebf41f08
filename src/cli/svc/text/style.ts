import { inspect, styleText } from 'node:util';
import { toPlainLine } from '../../../verify/findings.ts';
import type { CliContext, TerminalOutput } from '../context.ts';

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

const MAX_LINE_CHARS = 1_000;

export function toSingleLine(text: string): string {
  return toPlainLine(text).slice(0, MAX_LINE_CHARS);
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
