import { type Day, formatDay } from '../../forecast/day.ts';
import type { PriceEvidence } from '../evidence.ts';
import { type Findings, NO_SUBJECT } from '../findings.ts';
import type { CheckedRow } from './forecast.ts';
import { getCloseDays, toResolutionSubject } from './prediction.ts';
import { computeReturnBps, computeStatus, toPriceCents } from './prices.ts';

/** Independent sources disagree about the sign of smaller returns only: over five years, the largest was 55 bps. */
const MAX_DISPUTED_RETURN_BPS = 60;
/** They disagree on about 1 % of days: 16 of 1,829 at one day, at most 5 at longer horizons. */
const MAX_FLIPS = 2;
const MAX_FLIPPED_SHARE = 0.015;

/**
 * Within the price tolerance, an operator could choose the sign of a small return. Few such flips make the audit incomplete; more than
 * the noise between sources, or a flip of a large return, are differences.
 */
export function checkCloseCalls(rows: readonly CheckedRow[], prices: PriceEvidence, findings: Findings): void {
  const reassessed = rows.flatMap((row) => reassessRow(row, prices) ?? []);
  for (const [horizonDays, members] of Map.groupBy(reassessed, ({ prediction }) => prediction.data.horizonDays)) {
    const flipped = members.filter(({ isFlipped }) => isFlipped);
    for (const one of flipped) reportFlip(one, prices.source, findings);
    if (flipped.length === 0) continue;
    const maxFlips = Math.floor(MAX_FLIPS + MAX_FLIPPED_SHARE * members.length);
    const wins = `${members.filter(({ isWin }) => isWin).length} wins instead of ${members.filter(({ wasWin }) => wasWin).length}`;
    const what = `by ${prices.source} ${flipped.length} of ${members.length} prices went the other way: ${wins}`;
    const because = `${what}; sources disagree about at most ${maxFlips}`;
    const subject = { ...NO_SUBJECT, horizonDays };
    if (flipped.length <= maxFlips) findings.leave('outcome', subject, what);
    else findings.fail('outcome', subject, { field: 'outcomes', expected: `at most ${maxFlips}`, actual: flipped.length, because });
  }
}

type ReassessedRow = NonNullable<ReturnType<typeof reassessRow>>;

/** The outcome of a forecast by its independent closes; null when it has none. */
function reassessRow({ prediction, resolution, outcome, opened, status }: CheckedRow, { closes }: PriceEvidence) {
  const { from, to } = getCloseDays(prediction);
  const [first, last] = [closes.get(from), closes.get(to)];
  if (resolution === null || outcome === null || !opened || first === undefined || last === undefined) return null;
  const [fromCents, toCents] = [toPriceCents(first), toPriceCents(last)];
  const isWin = computeStatus(resolution.data, fromCents, toCents) === 'WIN';
  const isFlipped = outcome.rose !== toCents > fromCents;
  return { prediction, outcome, isFlipped, isWin, wasWin: status === 'WIN', returnBps: computeReturnBps(fromCents, toCents) };
}

function reportFlip({ prediction, outcome, returnBps }: ReassessedRow, source: string, findings: Findings): void {
  const { day, horizonDays } = prediction.data;
  const other = `by ${source} the price went the other way (${returnBps} bps)`;
  const [actual, expected] = outcome.rose ? ['UP', 'DOWN'] : ['DOWN', 'UP'];
  const because = `${other}: by more than sources differ`;
  if (Math.abs(returnBps) <= MAX_DISPUTED_RETURN_BPS) findings.note(`${formatDay(day)} ${horizonDays}d: a close call; ${other}`);
  else findings.fail('outcome', toResolutionSubject(prediction), { field: 'actualDirection', expected, actual, because });
}

/** Checks that all resolutions use the same close of a day, which opens some windows and ends others. */
export function checkOneClose(rows: readonly CheckedRow[], findings: Findings): void {
  const first = new Map<Day, { cents: number; uid: string }>();
  for (const { prediction, resolution } of rows) {
    if (resolution === null) continue;
    const { uid, data } = resolution;
    const { from, to } = getCloseDays(prediction);
    for (const [day, cents, field] of [
      [from, data.btcAtSignalCents, 'btcAtSignal'],
      [to, data.btcAtResolutionCents, 'btcAtResolution'],
    ] as const) {
      const known = first.get(day);
      if (known === undefined) first.set(day, { cents, uid });
      else {
        const because = `${formatDay(day)} closes at another price here than in ${known.uid}`;
        findings.compare('oneClose', toResolutionSubject(prediction), { field, expected: known.cents / 100, actual: cents / 100, because });
      }
    }
  }
}
