import { type Day, formatDay } from '../forecast/day.ts';
import { directionOutcome } from '../forecast/scoring.ts';
import type { Findings } from './findings.ts';
import { type AuditPrices, centsOf } from './prices.ts';
import { type AuditedRow, closeDays, returnBpsOf } from './rows.ts';
import { subjectOf } from './sequence.ts';

/** Honest sources disagree about the sign of smaller returns only: of five years the largest was 55. */
const MOST_RETURN_BPS = 60;
/** And of about one day in a hundred: 16 of 1,829 at one day, 5 at the most at longer horizons. */
const MOST_FLIPS = 2;
const MOST_FLIPPED_SHARE = 0.015;

export interface CloseCallContext {
  prices: AuditPrices;
  /** Independent closes, USD, by day. */
  closes: ReadonlyMap<Day, number>;
  findings: Findings;
}

/** A forecast whose closes on chain are within the tolerance, as the independent closes alone would have it. */
interface Judged {
  row: AuditedRow;
  fromCents: number;
  toCents: number;
}

/**
 * Within a tolerance the sign of a small return is the choice of whoever picks the prices. Few such calls leave the audit incomplete;
 * more of them than there is noise between sources, or of returns that are not small, are wrong.
 */
export function checkCloseCalls(rows: readonly AuditedRow[], context: CloseCallContext): void {
  for (const [horizonDays, members] of Map.groupBy(rows, ({ prediction }) => prediction.data.horizonDays)) {
    const judged = members.flatMap((row) => judgedOf(row, context.closes));
    const flipped = judged.filter(isFlipped);
    for (const one of flipped) tellFlip(one, context);
    if (flipped.length > 0) tellFlips({ horizonDays, judged, flipped: flipped.length }, context);
  }
}

function judgedOf(row: AuditedRow, closes: ReadonlyMap<Day, number>): Judged[] {
  const { from, to } = closeDays(row.prediction);
  const [first, last] = [closes.get(from), closes.get(to)];
  if (row.outcome === null || !row.opened || first === undefined || last === undefined) return [];
  return [{ row, fromCents: centsOf(first), toCents: centsOf(last) }];
}

function isFlipped({ row, fromCents, toCents }: Judged): boolean {
  return row.outcome?.rose !== toCents > fromCents;
}

function tellFlip({ row, fromCents, toCents }: Judged, { prices, findings }: CloseCallContext): void {
  const subject = subjectOf(row.prediction);
  const { day, horizonDays } = row.prediction.data;
  const returnBps = returnBpsOf(fromCents, toCents);
  const other = `by ${prices.source} the price went the other way (${returnBps} bps)`;
  if (Math.abs(returnBps) <= MOST_RETURN_BPS) {
    findings.note(`${formatDay(day)} ${horizonDays}d: a close call; ${other}`);
    return;
  }
  const [expected, found] = toCents > fromCents ? ['UP', 'DOWN'] : ['DOWN', 'UP'];
  findings.wrong('outcome', subject, { field: 'actualDirection', expected, found, because: `${other}: by more than sources disagree` });
}

function tellFlips(
  { horizonDays, judged, flipped }: { horizonDays: number; judged: readonly Judged[]; flipped: number },
  { prices, findings }: CloseCallContext,
): void {
  const wins = judged.filter(({ row }) => row.status === 'WIN').length;
  const winsHere = judged.filter(isWinHere).length;
  const what = `by ${prices.source} ${flipped} of ${judged.length} prices went the other way: ${winsHere} wins instead of ${wins}`;
  const most = Math.floor(MOST_FLIPS + MOST_FLIPPED_SHARE * judged.length);
  if (flipped <= most) {
    findings.incomplete(`${horizonDays}d: ${what}`);
    return;
  }
  const because = `${what}; sources disagree about ${most} at the most`;
  findings.wrong(
    'outcome',
    { horizonDays, day: null, sequence: null, uid: null },
    {
      ...{ field: 'outcomes', expected: `${most} at the most`, found: flipped, because },
    },
  );
}

function isWinHere({ row, fromCents, toCents }: Judged): boolean {
  const { revelation, status } = row;
  return revelation !== null && status !== 'HOLD' && directionOutcome(revelation.data.direction, fromCents, toCents) === 'WIN';
}
