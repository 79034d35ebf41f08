import { wrapText } from './facts.ts';
import { getCellText, type TerminalWriter } from './style.ts';

const MARK_WIDTH = 8;
const GAP = 2;

/** What was checked, each with whether it holds, in words and not by colour alone. */
export function formatCheckLines(checks: readonly { what: string; ok: boolean }[], writer: TerminalWriter): string[] {
  return checks.flatMap(({ what, ok }) => {
    const mark = ok ? writer.paint('green', '  ok    ') : writer.paint('red', '  NOT OK');
    const lines = wrapText(getCellText(what), writer.width - MARK_WIDTH - GAP);
    return lines.map((line, index) => `${index === 0 ? mark : ' '.repeat(MARK_WIDTH)}${' '.repeat(GAP)}${line}`);
  });
}
