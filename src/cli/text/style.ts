import { plainText } from '../../audit/findings.ts';
import type { Host, Screen } from '../host.ts';

const CODES = { bold: [1, 22], dim: [2, 22], red: [31, 39], green: [32, 39], yellow: [33, 39], cyan: [36, 39] } as const;

export type Style = keyof typeof CODES;

/** A piece of text, and how it is shown. */
interface Styled {
  text: string;
  style: Style;
}
export type Cell = string | Styled;

/** How a screen is written on. */
export interface Pen {
  /** Characters of a line. */
  width: number;
  /** Colours are never all that says something: without them it is the same text. */
  paint(style: Style, text: string): string;
}

/** Where nobody knows how wide it is. */
const WIDTH = 80;
const LEAST_WIDTH = 40;

/** Colours on terminals only, and not where NO_COLOR or TERM=dumb is set. */
export function penFor({ isTTY, columns }: Screen, { environment }: Pick<Host, 'environment'>): Pen {
  const { NO_COLOR = '', TERM } = environment;
  const coloured = isTTY === true && NO_COLOR === '' && TERM !== 'dumb';
  return {
    // Terminals that do not know say 0.
    width: columns ? Math.max(LEAST_WIDTH, columns) : WIDTH,
    paint: (style, text) => (coloured && text !== '' ? `\x1b[${CODES[style][0]}m${inert(text)}\x1b[${CODES[style][1]}m` : inert(text)),
  };
}

/** What a terminal would act on, or would show in another order. */
const ACTING = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;
const COLOUR = new RegExp(`^\\[(?:${Object.values(CODES).flat().join('|')})m`);

function inert(text: string): string {
  return text.replace(ACTING, '\uFFFD');
}

/** A line as it is written: whatever is in it, only the colours of a pen act on a terminal. */
export function screenLine(line: string): string {
  return line.replace(ACTING, (character, at: number) => {
    return character === '\x1b' && COLOUR.test(line.slice(at + 1, at + 5)) ? character : '\uFFFD';
  });
}

const LONGEST = 1_000;

/** A text from anywhere, as one line of a bounded length. */
export function singleLine(text: string): string {
  return plainText(text).slice(0, LONGEST);
}

/** The text of a cell, as one line in which nothing acts on the terminal. */
export function textOf(cell: Cell): string {
  return plainText(typeof cell === 'string' ? cell : cell.text);
}

/** The cell as it is shown. @param text that of the cell, filled up or cut */
export function painted(pen: Pen, cell: Cell, text: string): string {
  return typeof cell === 'string' ? text : pen.paint(cell.style, text);
}
