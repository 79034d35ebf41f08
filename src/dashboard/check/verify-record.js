import { computeSchemaUid, decodePredictionData, isUidOfContent, ZERO_UID } from '../chain/eas.js';
import { formatIsoSeconds } from './check-list.js';

/** @import { CheckList } from './check-list.js' */
/** @import { Attestation, PredictionData } from '../chain/eas.js' */
/** @import { Evidence } from './verify-row.js' */

const DAY_SECONDS = 86_400;

/**
 * Compares a row with its neighbours: horizon, unique sequence, predecessor, and closes shared with adjacent windows.
 * @param {CheckList} list @param {Evidence} evidence
 */
export function checkRecordPosition(list, { row, horizon, neighbours: { before, alike, openingClose, endingClose } }) {
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

/**
 * Checks that a prediction refers to the row before it, and that this is a valid predecessor.
 * @param {CheckList} list @param {Evidence} evidence @param {{ attestation: Attestation, data: PredictionData }} found
 */
export function checkPredecessorLink(list, { row, attester, neighbours: { before }, previous }, { attestation: { refUID }, data }) {
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

/** @param {CheckList} list @param {Attestation | null} previous @param {{ attester: string, data: PredictionData }} follower */
function checkPredecessor(list, previous, { attester, data: { horizonDays, day, sequence } }) {
  list.add('previous', 'Its predecessor is a prediction of the same wallet.', {
    expected: `a prediction of ${attester.toLowerCase()}`,
    actual: describeMaker(previous),
  });
  list.add('previousPlace', 'Its predecessor has the same horizon, the previous day and the previous number.', {
    expected: formatPlace({ horizonDays, day: day - 1, sequence: sequence - 1 }),
    actual: describePlaceOf(previous),
  });
}

/** @param {Attestation | null} attestation */
function describeMaker(attestation) {
  if (attestation === null) return null;
  if (!isUidOfContent(attestation)) return 'content that does not match its uid';
  return attestation.schema === computeSchemaUid('prediction') ? `a prediction of ${attestation.attester}` : 'another schema';
}

/** @param {Attestation | null} attestation */
function describePlaceOf(attestation) {
  try {
    return attestation === null ? null : formatPlace(decodePredictionData(attestation));
  } catch {
    return 'undecodable data';
  }
}

/** @param {Pick<PredictionData, 'horizonDays' | 'day' | 'sequence'>} place */
function formatPlace({ horizonDays, day, sequence }) {
  return `${horizonDays}d of ${formatIsoSeconds(day * DAY_SECONDS).slice(0, 10)}, number ${sequence}`;
}
