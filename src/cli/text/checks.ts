import { wrapped } from './facts.ts';
import { type Pen, textOf } from './style.ts';

const MARK_WIDTH = 8;
const GAP = 2;

/** What was checked, each with whether it holds, in words and not by colour alone. */
export function checkLines(checks: readonly { what: string; ok: boolean }[], pen: Pen): string[] {
  return checks.flatMap(({ what, ok }) => {
    const mark = ok ? pen.paint('green', '  ok    ') : pen.paint('red', '  NOT OK');
    const lines = wrapped(textOf(what), pen.width - MARK_WIDTH - GAP);
    return lines.map((line, index) => `${index === 0 ? mark : ' '.repeat(MARK_WIDTH)}${' '.repeat(GAP)}${line}`);
  });
}
