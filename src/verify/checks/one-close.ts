import { type Day, formatDay } from '../../forecast/day.ts';
import type { Findings } from '../findings.ts';
import type { CheckedRow } from './forecast.ts';
import { getCloseDays } from './prediction.ts';
import { toResolutionSubject } from './resolution.ts';

/** Checks that all resolutions use the same close of a day, which opens some windows and ends others. */
export function checkOneClose(rows: readonly CheckedRow[], findings: Findings): void {
  const first = new Map<Day, { cents: number; uid: string }>();
  for (const { prediction, resolution } of rows) {
    if (resolution === null) continue;
    const { btcAtSignalCents, btcAtResolutionCents } = resolution.data;
    const { from, to } = getCloseDays(prediction);
    for (const [day, cents, field] of [
      [from, btcAtSignalCents, 'btcAtSignal'],
      [to, btcAtResolutionCents, 'btcAtResolution'],
    ] as const) {
      const known = first.get(day);
      if (known === undefined) {
        first.set(day, { cents, uid: resolution.uid });
        continue;
      }
      const because = `${formatDay(day)} closes at another price here than in ${known.uid}`;
      findings.compare('oneClose', toResolutionSubject(prediction), { field, expected: known.cents / 100, actual: cents / 100, because });
    }
  }
}
