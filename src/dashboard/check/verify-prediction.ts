import { computeSha256Hex, encodeCid } from '../chain/cid.ts';
import { type Attestation, decodePredictionData, type PredictionData, ZERO_UID } from '../chain/eas.ts';
import type { ScorecardRow } from '../state/responses.ts';
import { type CheckList, formatIsoSeconds, parseIsoSeconds } from './check-list.ts';
import { checkNoOtherCommitment } from './commitments.ts';
import type { Evidence } from './evidence/evidence.ts';
import { checkAttestationForm, decodeChecked } from './verify-attestation.ts';
import { checkPredecessorLink } from './verify-record.ts';

const DAY_SECONDS = 86_400;

/** Compares a row with the prediction that commits to it. @param found null when the chain has none */
export function checkPrediction(list: CheckList, evidence: Evidence, found: Attestation | null): PredictionData | null {
  const { row, attester } = evidence;
  const attestation = checkAttestationForm(list, found, { uid: String(row.attestationUid), attester, schema: 'prediction' });
  if (attestation === null) return null;
  const data = decodeChecked(list, () => decodePredictionData(attestation));
  if (data === null) return null;
  checkPlace(list, evidence, data);
  checkMissed(list, row, data);
  checkTime(list, row, { data, time: attestation.time });
  checkPredecessorLink(list, evidence, { attestation, data });
  checkNoOtherCommitment(list, evidence.commitments, { uid: attestation.uid, time: attestation.time, data });
  checkMetadata(list, evidence, data);
  return data;
}

function checkPlace(
  list: CheckList,
  { row, horizon }: Evidence,
  { sequence, day, horizonDays, windowOpensAt, resolvesAt }: PredictionData,
) {
  list.add('horizon', 'Its horizon is the selected one.', { expected: `${horizon}d`, actual: `${horizonDays}d` });
  const actual = formatIsoSeconds(day * DAY_SECONDS).slice(0, 10);
  list.add('date', 'Its day matches the row.', { expected: row.date, actual });
  list.add('sequence', 'Its sequence number matches the row.', { expected: row.sequence, actual: sequence });
  list.add('windowOpensAt', 'Its window opening matches the row.', {
    expected: formatIsoSeconds(parseIsoSeconds(row.windowOpensAt)),
    actual: formatIsoSeconds(windowOpensAt),
  });
  list.add('resolvesAt', 'Its window end matches the row.', {
    expected: formatIsoSeconds(parseIsoSeconds(row.resolvesAt)),
    actual: formatIsoSeconds(resolvesAt),
  });
  const opens = (day + 1) * DAY_SECONDS;
  list.add('window', 'The window opens at 00:00 UTC after its day and lasts as long as the horizon.', {
    expected: `${formatIsoSeconds(opens)} to ${formatIsoSeconds(opens + horizonDays * DAY_SECONDS)}`,
    actual: `${formatIsoSeconds(windowOpensAt)} to ${formatIsoSeconds(resolvesAt)}`,
  });
}

/** A missed day has an empty commitment and is void. */
function checkMissed(list: CheckList, { missed, status }: ScorecardRow, { commitment }: PredictionData) {
  const isNothing = commitment === ZERO_UID;
  const what = missed ? 'No forecast was made: its commitment is empty, as the row says.' : 'It contains a commitment.';
  list.add('missed', what, { expected: missed ? ZERO_UID : 'a commitment', actual: commitment, ok: missed === isNothing });
  if (missed) list.add('void', 'The missed day is void in the row.', { expected: 'VOID', actual: status });
}

/** Committed before the window opened; a void row that was not missed must have been late. */
function checkTime(
  list: CheckList,
  { status, missed }: ScorecardRow,
  { data: { windowOpensAt }, time }: { data: PredictionData; time: number },
) {
  if (missed) return;
  const actual = formatIsoSeconds(time);
  const opens = formatIsoSeconds(windowOpensAt);
  if (status === 'VOID') {
    const what = 'It was committed too late and is void, as the row says.';
    list.add('void', what, { expected: `not before ${opens}`, actual, ok: time >= windowOpensAt });
  } else {
    const what = 'It was committed before the outcome window opened.';
    list.add('time', what, { expected: `before ${opens}`, actual, ok: time < windowOpensAt });
  }
}

function checkMetadata(list: CheckList, { metadata }: Evidence, data: PredictionData) {
  if (metadata === null || 'problem' in metadata) {
    return list.leave('the published metadata', metadata === null ? 'no metadata is published under its digest' : metadata.problem);
  }
  const what = `The published metadata (${encodeCid(data.metadata).slice(0, 12)}…) has the digest named on chain.`;
  list.add('metadata', what, { expected: data.metadata, actual: computeSha256Hex(metadata.bytes) });
}
