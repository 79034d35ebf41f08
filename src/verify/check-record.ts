import type { Hex } from 'viem';
import type { SchemaName } from '../chain/eas/attestation-schemas.ts';
import { type Day, formatDay, toDay } from '../forecast/day.ts';
import { createBaseRates, type DailyCloses } from '../forecast/fit/base-rates.ts';
import { checkAttestation } from './checks/attestation.ts';
import { checkCloseCalls, checkOneClose } from './checks/closes.ts';
import { type CheckedRow, checkForecast, isBeyondData, matchResolutions, type OutcomeContext, toUnresolvedRow } from './checks/forecast.ts';
import { checkInTime, getCloseDays } from './checks/prediction.ts';
import { checkSequences } from './checks/sequence.ts';
import { type RecomputedFigures, recompute, toRecordRows } from './checks/statistics.ts';
import { compareClaims } from './claims/claims.ts';
import type { AttestationEvidence, ChainRecord, CheckContext, ClaimedScorecard } from './evidence.ts';
import { type Findings, formatInstant, NO_SUBJECT } from './findings.ts';

/** Checks each attestation of a record. `evidence` is in chain order; a repeated uid counts once. */
export function decodeRecord(evidence: readonly AttestationEvidence[], context: CheckContext, findings: Findings): ChainRecord {
  const unique = [...new Map(evidence.map((one) => [`${one.schema}:${one.uid}`, one])).values()];
  const decode = <S extends SchemaName>(schema: S) =>
    unique
      .filter((one): one is AttestationEvidence<S> => one.schema === schema)
      .flatMap((one) => checkAttestation(one, context, findings) ?? []);
  return { predictions: decode('prediction'), resolutions: decode('resolution') };
}

/** The days whose closes decide resolved forecasts, and the first and last days of the windows of all others. */
export function collectNeededDays({ predictions, resolutions }: ChainRecord, now: Date): { deciding: Set<Day>; opening: Set<Day> } {
  const resolved = new Set<Hex>(resolutions.map(({ refUid }) => refUid));
  const [deciding, opening] = [new Set<Day>(), new Set<Day>()];
  for (const prediction of predictions) {
    const { from, to } = getCloseDays(prediction);
    const isDecided = resolved.has(prediction.uid) && toUnresolvedRow(prediction).status !== 'VOID';
    const days = isDecided ? deciding : opening.add(from);
    if (isDecided || prediction.data.resolvesAt <= now) days.add(from).add(to);
  }
  return { deciding, opening };
}

interface RecordEvidence extends Omit<OutcomeContext, 'findings'> {
  record: ChainRecord;
  /** Closes since the first training day; null when they do not reach back as far. */
  history: DailyCloses | null;
  /** One scorecard per horizon in the order of `HORIZONS`; null: no service is compared. */
  claims: readonly ClaimedScorecard[] | null;
}

export type CheckedRecord = ReturnType<typeof checkRecord>;

/** Checks a whole record, recomputes its figures, and compares both with the claims of a service. */
export function checkRecord({ record, prices, history, claims, now }: RecordEvidence, findings: Findings) {
  const sequences = checkSequences(record.predictions, findings);
  const matched = matchResolutions(record, findings);
  const rows = sequences.flat().map((prediction) => {
    checkInTime(prediction, undefined, findings);
    return checkForecast(prediction, matched.get(prediction.uid) ?? null, { prices, now, findings });
  });
  checkOneClose(rows, findings);
  if (prices !== null) checkCloseCalls(rows, prices, findings);
  for (const row of rows) if (row.status === 'VOID') noteVoid(row, findings);
  noteRecordEnd(rows, { endsOn: prices?.endsOn ?? null, now }, findings);
  const recomputed = recomputeAll(rows, history, findings);
  if (claims !== null) compareClaims(rows, recomputed, { answers: claims, prices, now, findings });
  if (rows.length === 0) {
    findings.leave('sequence', NO_SUBJECT, 'there is nothing to audit');
    findings.note('no forecast of this attester was found: check the address and the first block');
  }
  return { rows, recomputed };
}

function noteVoid({ prediction: { at, data }, missed }: CheckedRow, findings: Findings): void {
  const { day, horizonDays, windowOpensAt } = data;
  const late = `attested at ${formatInstant(at)}, after its window opened at ${formatInstant(windowOpensAt)}`;
  findings.note(`${formatDay(day)} ${horizonDays}d is VOID: ${missed ? 'nothing was forecast' : late}`);
}

/** A record that stops is no difference, but readers of its figures need to know. */
function noteRecordEnd(rows: readonly CheckedRow[], { endsOn, now }: { endsOn: Day | null; now: Date }, findings: Findings): void {
  const last = rows.reduce((latest, { prediction }) => Math.max(latest, prediction.data.day), Number.NEGATIVE_INFINITY);
  // The forecast of today is made in the evening.
  if (rows.length > 0 && last < toDay(now.getTime()) - 1) findings.note(`nothing has been forecast since ${formatDay(last)}`);
  const open = rows.filter(({ status, prediction }) => status === 'PENDING' && isBeyondData(prediction, { endsOn })).length;
  if (open > 0) findings.note(`${open} forecasts stay pending: the data of the record ends on ${formatDay(endsOn as Day)}`);
}

function recomputeAll(rows: readonly CheckedRow[], history: DailyCloses | null, findings: Findings): RecomputedFigures[] {
  const baseRates = createBaseRates(history);
  const groups = Map.groupBy(rows, ({ prediction }) => prediction.data.horizonDays);
  const recomputed = [...groups].map(([horizonDays, members]) => recompute(toRecordRows(members, baseRates), horizonDays));
  if (recomputed.some(({ summary, statistics }) => summary.brier === null && statistics.probabilities !== null)) {
    findings.note('figures against the base rate are omitted: these prices do not cover the training years');
  }
  return recomputed;
}
