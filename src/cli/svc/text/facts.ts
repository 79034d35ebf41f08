import { toPlainLine } from '../../../verify/findings.ts';
import { type Cell, getCellText, paintCell, type TerminalWriter } from './style.ts';

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
