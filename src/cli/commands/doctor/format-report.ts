import type { Level } from '../../../app/doctor/finding.ts';
import type { DoctorReport } from '../../../app/doctor/run-doctor.ts';
import type { Style, TerminalWriter } from '../../svc/text/style.ts';

const STYLES: Record<Level, Style> = { ok: 'green', warn: 'yellow', fail: 'red', skipped: 'dim' };
const LEVEL_WIDTH = 8;
const TITLE_WIDTH = 20;

/** A line a finding, with what to do below it, and the counts. */
export function formatDoctorReport({ chainMode, checks, counts }: DoctorReport, { paint }: Pick<TerminalWriter, 'paint'>): string[] {
  const lines = checks.flatMap(({ title, findings }) =>
    findings.flatMap(({ level, detail, action, isPermanent }, index) => {
      const heading = (index === 0 ? title : '').padEnd(TITLE_WIDTH);
      const mark = isPermanent && level === 'fail' ? ' (cannot be repaired once the record has begun)' : '';
      const line = `${paint(STYLES[level], level.padEnd(LEVEL_WIDTH))}${heading}${detail}${mark}`;
      return action === null || level === 'ok' ? [line] : [line, `${' '.repeat(LEVEL_WIDTH + TITLE_WIDTH)}-> ${action}`];
    }),
  );
  const { ok, warn, fail, skipped } = counts;
  const kind = chainMode === 'real' ? [] : ['This is a demonstration on a local chain. docs/OPERATE.md says what a real deployment needs.'];
  return [...lines, '', ...kind, `${ok} ok, ${warn} warnings, ${fail} failures, ${skipped} skipped`];
}
