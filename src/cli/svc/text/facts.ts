import { toPlainLine } from '../../../audit/checks/findings.ts';
import { type Cell, getCellText, paintCell, type TerminalWriter } from './style.ts';

const INDENT = 2;
const GAP = 2;

/** Names and what they stand for, one below the other; long texts go on below themselves. Null ones are left out. */
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

/** A text in lines of at most so many characters, broken between words; a word that is longer stays whole. */
export function wrapText(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of toPlainLine(text).split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}
