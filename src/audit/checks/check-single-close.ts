import { type Day, formatDay } from '../../forecast/day.ts';
import { type AuditedRow, getCloseDays } from './audited-row.ts';
import { toSubject } from './check-sequences.ts';
import type { Findings } from './findings.ts';

/** Checks that all resolutions use the same close of a day, which opens some windows and ends others. */
export function checkSingleClose(rows: readonly AuditedRow[], findings: Findings): void {
  const first = new Map<Day, { cents: number; uid: string }>();
  for (const { prediction, revelation } of rows) {
    if (revelation === null) continue;
    const { btcAtSignalCents, btcAtResolutionCents } = revelation.data;
    const { from, to } = getCloseDays(prediction);
    for (const [day, cents, field] of [
      [from, btcAtSignalCents, 'btcAtSignal'],
      [to, btcAtResolutionCents, 'btcAtResolution'],
    ] as const) {
      const known = first.get(day);
      if (known === undefined) {
        first.set(day, { cents, uid: revelation.uid });
        continue;
      }
      const because = `${formatDay(day)} closes at another price here than in ${known.uid}`;
      findings.compare('oneClose', toSubject(prediction), { field, expected: known.cents / 100, found: cents / 100, because });
    }
  }
}
