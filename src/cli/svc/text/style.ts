import { toPlainLine } from '../../../audit/checks/findings.ts';
import type { CliContext, TerminalOutput } from '../context.ts';

const STYLE_CODES = { bold: [1, 22], dim: [2, 22], red: [31, 39], green: [32, 39], yellow: [33, 39], cyan: [36, 39] } as const;

export type Style = keyof typeof STYLE_CODES;

/** A piece of text, and how it is shown. */
interface Styled {
  text: string;
  style: Style;
}
export type Cell = string | Styled;

/** How a screen is written on. */
export interface TerminalWriter {
  /** Characters of a line. */
  width: number;
  /** Colours are never all that says something: without them it is the same text. */
  paint(style: Style, text: string): string;
}

/** Where nobody knows how wide it is. */
const DEFAULT_WIDTH = 80;
const MIN_WIDTH = 40;

/** Colours on terminals only, and not where NO_COLOR or TERM=dumb is set. */
export function createTerminalWriter({ isTTY, columns }: TerminalOutput, { environment }: Pick<CliContext, 'environment'>): TerminalWriter {
  const { NO_COLOR = '', TERM } = environment;
  const coloured = isTTY === true && NO_COLOR === '' && TERM !== 'dumb';
  return {
    // Terminals that do not know say 0.
    width: columns ? Math.max(MIN_WIDTH, columns) : DEFAULT_WIDTH,
    paint: (style, text) =>
      coloured && text !== ''
        ? `\x1b[${STYLE_CODES[style][0]}m${replaceControls(text)}\x1b[${STYLE_CODES[style][1]}m`
        : replaceControls(text),
  };
}

/** What a terminal would act on, or would show in another order. */
const CONTROL_CHARACTERS = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;
const COLOUR_SEQUENCE = new RegExp(`^\\[(?:${Object.values(STYLE_CODES).flat().join('|')})m`);

function replaceControls(text: string): string {
  return text.replace(CONTROL_CHARACTERS, '\uFFFD');
}

/** A line as it is written: whatever is in it, only the colours of a pen act on a terminal. */
export function sanitizeLine(line: string): string {
  return line.replace(CONTROL_CHARACTERS, (character, at: number) => {
    return character === '\x1b' && COLOUR_SEQUENCE.test(line.slice(at + 1, at + 5)) ? character : '\uFFFD';
  });
}

const MAX_LINE_CHARS = 1_000;

/** A text from anywhere, as one line of a bounded length. */
export function toSingleLine(text: string): string {
  return toPlainLine(text).slice(0, MAX_LINE_CHARS);
}

/** The text of a cell, as one line in which nothing acts on the terminal. */
export function getCellText(cell: Cell): string {
  return toPlainLine(typeof cell === 'string' ? cell : cell.text);
}

/** The cell as it is shown. @param text that of the cell, filled up or cut */
export function paintCell(writer: TerminalWriter, cell: Cell, text: string): string {
  return typeof cell === 'string' ? text : writer.paint(cell.style, text);
}
