import type { ResolutionData } from '../../chain/eas/attestation-schemas.ts';
import { type Day, formatDay } from '../../forecast/day.ts';
import { scoreDirection } from '../../forecast/scoring.ts';
import type { Prediction, PriceEvidence, Resolution } from '../evidence.ts';
import type { FindingSubject, Findings } from '../findings.ts';
import { getCloseDays, toResolutionSubject } from './prediction.ts';

/** The recomputed outcome of a forecast. */
export type CheckedOutcome = ReturnType<typeof checkOutcome>;

export function toPriceCents(usd: number): number {
  return Math.round(usd * 100);
}

/** Whether a close on chain equals the independent one within the tolerance. */
export function isSamePrice(onChainCents: number, usd: number, toleranceBps: number): boolean {
  const cents = toPriceCents(usd);
  return Math.abs(onChainCents - cents) <= (cents * toleranceBps) / 10_000;
}

/** Rounded to the basis point. */
export function computeReturnBps(from: number, to: number): number {
  return Math.round((to / from - 1) * 10_000);
}

export function computeStatus({ signal, direction }: Pick<ResolutionData, 'signal' | 'direction'>, fromCents: number, toCents: number) {
  return signal === 'HOLD' ? 'HOLD' : scoreDirection(direction, fromCents, toCents);
}

/** Checks return and outcome against the revealed closes, and those against the independent ones, which take precedence. */
export function checkOutcome(prediction: Prediction, { data }: Resolution, prices: PriceEvidence | null, findings: Findings) {
  const subject = toResolutionSubject(prediction);
  const { btcAtSignalCents, btcAtResolutionCents, signal, direction, returnBps, outcome } = data;
  const expectedReturn = computeReturnBps(btcAtSignalCents, btcAtResolutionCents);
  const why = 'the return does not follow from the two closes';
  findings.compare('return', subject, { field: 'returnBps', expected: expectedReturn, actual: returnBps, because: why });
  const because = `${signal} ${direction} from ${formatDollars(btcAtSignalCents)} to ${formatDollars(btcAtResolutionCents)}`;
  const expected = computeStatus(data, btcAtSignalCents, btcAtResolutionCents);
  findings.compare('outcome', subject, { field: 'outcome', expected, actual: outcome, because });
  const { from, to } = getCloseDays(prediction);
  const check = (field: string, day: Day, cents: number) =>
    prices === null ? cents : checkClose({ subject, field, day, cents }, prices, findings);
  const fromCents = check('btcAtSignal', from, btcAtSignalCents);
  const toCents = check('btcAtResolution', to, btcAtResolutionCents);
  return { fromCents, toCents, returnBps: computeReturnBps(fromCents, toCents), rose: toCents > fromCents };
}

type Close = { subject: FindingSubject; field: string; day: Day; cents: number };

/** @returns the close that counts */
function checkClose({ subject, field, day, cents }: Close, { source, closes, toleranceBps }: PriceEvidence, findings: Findings): number {
  const usd = closes.get(day);
  if (usd === undefined) {
    findings.leave('price', subject, `${source} has no close of ${formatDay(day)}`);
    return cents;
  }
  const expected = isSamePrice(cents, usd, toleranceBps) ? cents : toPriceCents(usd);
  const because = `the close of ${formatDay(day)} is another in ${source}`;
  findings.compare('price', subject, { field, expected: expected / 100, actual: cents / 100, because });
  return expected;
}

function formatDollars(cents: number): string {
  return `${(cents / 100).toFixed(2)} USD`;
}
