import { plainText } from '../../audit/findings.ts';
import { type Cell, type Pen, painted, textOf } from './style.ts';

const INDENT = 2;
const GAP = 2;

/** Names and what they stand for, one below the other; long texts go on below themselves. Null ones are left out. */
export function facts(rows: readonly (readonly [string, Cell | null])[], pen: Pen): string[] {
  const told = rows.filter((row): row is [string, Cell] => row[1] !== null);
  const labels = Math.max(0, ...told.map(([label]) => label.length));
  const room = pen.width - INDENT - labels - GAP;
  return told.flatMap(([label, cell]) =>
    wrapped(textOf(cell), room).map((line, index) => {
      const name = pen.paint('dim', (index === 0 ? label : '').padEnd(labels));
      return `${' '.repeat(INDENT)}${name}${' '.repeat(GAP)}${painted(pen, cell, line)}`;
    }),
  );
}

/** A text in lines of at most so many characters, broken between words; a word that is longer stays whole. */
export function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of plainText(text).split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}
