import type { RowResult } from './outcomes/run-row.ts';
import type { OutcomeName, Row } from './rows/row.ts';

const OUTCOMES: readonly OutcomeName[] = ['paid', 'HOLD', 'no funds', 'wrong amount', 'replayed', 'expired'];

const LEGEND =
  'paid, HOLD: what was charged, in USDC. refused: by the service. not sent: refused by the client itself. The wallet pays nothing then.';

/** Client x interface x outcome, and the notes of its cells below. */
export function formatMatrix(rows: readonly { row: Row; result: RowResult }[]): string[] {
  const notes: string[] = [];
  const cells = rows.map(({ row, result }) => [row.client, row.interface, ...OUTCOMES.map((name) => formatCell(result[name], notes))]);
  const lines = [['Client', 'Interface', ...OUTCOMES], ...cells];
  const widths = lines[0].map((_, column) => Math.max(...lines.map((line) => line[column].length)));
  const table = lines.map((line) =>
    line
      .map((text, column) => text.padEnd(widths[column]))
      .join('  ')
      .trimEnd(),
  );
  return [...table, '', LEGEND, ...notes.map((note, index) => `[${index + 1}] ${note}`)];
}

function formatCell({ text, note }: RowResult[OutcomeName], notes: string[]): string {
  if (note === undefined) return text;
  if (!notes.includes(note)) notes.push(note);
  return `${text} [${notes.indexOf(note) + 1}]`;
}
