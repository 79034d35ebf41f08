import { type Day, formatDay } from '../forecast/day.ts';
import { checkChallenges, type ProvenChallenge } from './checks/challenge.ts';
import { checkDistributions, type OpenedForecast } from './checks/distributions.ts';
import type { CheckedRow } from './checks/forecast.ts';
import { toResolutionSubject } from './checks/prediction.ts';
import type { ClaimedChallenge, ServedDistributions } from './evidence.ts';
import { type Findings, NO_SUBJECT } from './findings.ts';

/** Checks the distributions of a record as they are read; of a forecast only its comparisons are kept. */
export type DistributionRecordCheck = ReturnType<typeof createDistributionRecordCheck>;

/** @param rows of the whole record */
export function createDistributionRecordCheck(rows: readonly CheckedRow[], { now, findings }: { now: Date; findings: Findings }) {
  const known = new Map<string, CheckedRow>(rows.map((row) => [row.prediction.uid, row]));
  const due = new Map([...known].filter(([, row]) => isDue(row)));
  const opened: OpenedForecast[] = [];
  const before: Day[] = [];
  return {
    /** The forecasts that are resolved and not served yet, newest first. */
    getDue: () => [...due.values()].sort((a, b) => b.prediction.data.day - a.prediction.data.day),
    check(served: ServedDistributions): void {
      const uid = served.attestationUid.toLowerCase();
      const row = due.get(uid);
      if (row === undefined) {
        reportSurplus(served, known.get(uid), findings);
        return;
      }
      due.delete(uid);
      const result = checkDistributions(row, served, { now, findings });
      if (result === 'none') before.push(row.prediction.data.day);
      else if (result !== null) opened.push(result);
    },
    /** @param claims null: the service claims no evidence */
    finish(claims: readonly ClaimedChallenge[] | null): ProvenChallenge[] {
      for (const row of due.values()) checkDistributions(row, null, { now, findings });
      noteEarlierDays(before, opened, findings);
      if (claims === null) findings.note('the service claims no evidence for or against a challenger: it was computed, not compared');
      return checkChallenges(opened, claims, findings);
    },
  };
}

/** Resolved forecasts that count; a void one is never opened. */
export function isDue({ resolution, status }: CheckedRow): boolean {
  return resolution !== null && status !== 'VOID';
}

function reportSurplus({ predictionId, attestationUid }: ServedDistributions, row: CheckedRow | undefined, findings: Findings): void {
  if (row === undefined || isDue(row)) {
    const actual = row === undefined ? attestationUid : 'twice';
    const because = `the service opens ${predictionId}, ${row === undefined ? 'which is not in the record' : 'twice'}`;
    const subject = row === undefined ? NO_SUBJECT : toResolutionSubject(row.prediction);
    findings.fail('distributions', subject, { field: 'attestationUid', expected: 'a resolved forecast, once', actual, because });
  } else findings.leave('distributions', toResolutionSubject(row.prediction), 'its outcome was not on chain yet when it was read', false);
}

/** A service that goes back to committing none shows after its first day with distributions. */
function noteEarlierDays(before: readonly Day[], opened: readonly OpenedForecast[], findings: Findings): void {
  if (before.length === 0) return;
  const first = opened.reduce((day, one) => Math.min(day, one.day), Number.POSITIVE_INFINITY);
  const later = before.filter((day) => day > first).length;
  const stopped = later === 0 ? '' : `; ${later} of them after ${formatDay(first)}, when others were`;
  findings.note(`${before.length} resolved forecasts have no committed distributions, and count for no evidence${stopped}`);
}
