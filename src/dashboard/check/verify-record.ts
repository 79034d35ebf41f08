import { type Attestation, computeSchemaUid, decodePredictionData, isUidOfContent, type PredictionData, ZERO_UID } from '../chain/eas.ts';
import { type CheckList, formatIsoSeconds } from './check-list.ts';
import type { Evidence } from './evidence/evidence.ts';

const DAY_SECONDS = 86_400;

/** Compares a row with its neighbours: horizon, unique sequence, predecessor, and closes shared with adjacent windows. */
export function checkRecordPosition(list: CheckList, { row, horizon, neighbours: { before, alike, openingClose, endingClose } }: Evidence) {
  const { sequence, btcAtSignal, provisional, btcAtResolution } = row;
  list.add('horizon', 'The horizon of the row is the selected one.', { expected: `${horizon}d`, actual: row.horizon });
  list.add('once', 'No other row has its number.', { expected: 1, actual: alike });
  if (sequence !== 1) {
    const what = `The previous row, number ${sequence - 1}, is present.`;
    list.add('before', what, { expected: sequence - 1, actual: before?.sequence ?? null });
  }
  if (btcAtSignal !== null && !provisional && openingClose !== null) {
    const what = 'Its close at window open equals the final close of another row.';
    list.add('openingClose', what, { expected: openingClose, actual: btcAtSignal });
  }
  if (btcAtResolution !== null && endingClose !== null) {
    const what = 'Its close at resolution equals the opening close of another row.';
    list.add('endingClose', what, { expected: endingClose, actual: btcAtResolution });
  }
}

/** Checks that a prediction refers to the row before it, and that this is a valid predecessor. */
export function checkPredecessorLink(
  list: CheckList,
  { row, attester, neighbours: { before }, previous }: Evidence,
  { attestation: { refUID }, data }: { attestation: Attestation; data: PredictionData },
) {
  if (row.sequence === 1) {
    list.add('link', 'It is the first of its record and refers to no predecessor.', { expected: ZERO_UID, actual: refUID });
    return;
  }
  // A missing predecessor row is reported by `checkRecordPosition`.
  if (before === null) return;
  const expected = before.attestationUid === null ? null : String(before.attestationUid).toLowerCase();
  const isThat = list.add('link', 'It refers to the prediction of the previous row.', { expected, actual: refUID });
  if (!isThat || previous === null) return;
  if ('problem' in previous) list.leave('the content of the previous prediction', previous.problem);
  else checkPredecessor(list, previous.attestation, { attester, data });
}

function checkPredecessor(
  list: CheckList,
  previous: Attestation | null,
  { attester, data: { horizonDays, day, sequence } }: { attester: string; data: PredictionData },
) {
  list.add('previous', 'Its predecessor is a prediction of the same wallet.', {
    expected: `a prediction of ${attester.toLowerCase()}`,
    actual: describeMaker(previous),
  });
  list.add('previousPlace', 'Its predecessor has the same horizon, the previous day and the previous number.', {
    expected: formatPlace({ horizonDays, day: day - 1, sequence: sequence - 1 }),
    actual: describePlaceOf(previous),
  });
}

function describeMaker(attestation: Attestation | null) {
  if (attestation === null) return null;
  if (!isUidOfContent(attestation)) return 'content that does not match its uid';
  return attestation.schema === computeSchemaUid('prediction') ? `a prediction of ${attestation.attester}` : 'another schema';
}

function describePlaceOf(attestation: Attestation | null) {
  try {
    return attestation === null ? null : formatPlace(decodePredictionData(attestation));
  } catch {
    return 'undecodable data';
  }
}

function formatPlace({ horizonDays, day, sequence }: Pick<PredictionData, 'horizonDays' | 'day' | 'sequence'>) {
  return `${horizonDays}d of ${formatIsoSeconds(day * DAY_SECONDS).slice(0, 10)}, number ${sequence}`;
}
