import { isoOf, secondsOf } from './check-list.js';
import { cidOf, digestOf } from './cid.js';
import { commitmentOf, DIRECTIONS, decodePrediction, SIGNALS, ZERO } from './eas.js';
import { checkForm, readData } from './verify-attestation.js';

/** @import { ScorecardRow } from './answers.ts' */
/** @import { CheckList } from './check-list.js' */
/** @import { Attestation, PredictionData } from './eas.js' */
/** @import { Evidence } from './verify.js' */

const DAY_SECONDS = 86_400;

/**
 * Compares a row with the prediction that commits to it.
 * @param {CheckList} list
 * @param {Evidence} evidence
 * @param {Attestation | null} found as the chain has it
 * @returns {PredictionData | null} what it commits to
 */
export function checkPrediction(list, evidence, found) {
  const { row, attester } = evidence;
  const attestation = checkForm(list, found, { uid: String(row.attestationUid), attester, schema: 'prediction' });
  if (attestation === null) return null;
  const data = readData(list, () => decodePrediction(attestation));
  if (data === null) return null;
  checkPlace(list, row, data);
  checkTime(list, row, { data, time: attestation.time });
  checkLink(list, evidence, attestation);
  checkMetadata(list, evidence, data);
  return data;
}

/**
 * @param {CheckList} list
 * @param {ScorecardRow} row
 * @param {PredictionData} data
 */
function checkPlace(list, row, { sequence, day, horizonDays, windowOpensAt, resolvesAt }) {
  list.add('horizon', 'It is of the horizon that the row says.', { expected: row.horizon, actual: `${horizonDays}d` });
  const actual = isoOf(day * DAY_SECONDS).slice(0, 10);
  list.add('date', 'It is of the day that the row says.', { expected: row.date, actual });
  list.add('sequence', 'It has the place in the record that the row says.', { expected: row.sequence, actual: sequence });
  list.add('windowOpensAt', 'The outcome window opens when the row says.', {
    expected: isoOf(secondsOf(row.windowOpensAt)),
    actual: isoOf(windowOpensAt),
  });
  list.add('resolvesAt', 'The outcome window ends when the row says.', {
    expected: isoOf(secondsOf(row.resolvesAt)),
    actual: isoOf(resolvesAt),
  });
  const opens = (day + 1) * DAY_SECONDS;
  list.add('window', 'The window opens at 00:00 UTC after its day, and is as long as the horizon.', {
    expected: `${isoOf(opens)} to ${isoOf(opens + horizonDays * DAY_SECONDS)}`,
    actual: `${isoOf(windowOpensAt)} to ${isoOf(resolvesAt)}`,
  });
}

/**
 * Committed before the window opened; what the row calls void must be late, or commit to nothing.
 * @param {CheckList} list
 * @param {ScorecardRow} row
 * @param {{ data: PredictionData, time: number }} committed
 */
function checkTime(list, { status, missed }, { data: { windowOpensAt, commitment }, time }) {
  const actual = isoOf(time);
  const opens = isoOf(windowOpensAt);
  if (status === 'VOID' && missed) {
    const what = 'It is void, as the row says: nothing was forecast, and it commits to nothing.';
    list.add('void', what, { expected: ZERO, actual: commitment });
  } else if (status === 'VOID') {
    const what = 'It is void, as the row says: it was on chain too late, and never counts.';
    list.add('void', what, { expected: `not before ${opens}`, actual, ok: time >= windowOpensAt });
  } else {
    const what = 'It was on chain before the outcome window opened.';
    list.add('time', what, { expected: `before ${opens}`, actual, ok: time < windowOpensAt });
  }
}

/**
 * @param {CheckList} list
 * @param {Evidence} evidence
 * @param {Attestation} attestation
 */
function checkLink(list, { row, previousUid }, { refUID }) {
  const what = 'It refers to the prediction of the day before, so that none can be dropped.';
  if (row.sequence === 1)
    list.add('link', 'It is the first of its record, and refers to none before it.', { expected: ZERO, actual: refUID });
  else if (previousUid) list.add('link', what, { expected: previousUid.toLowerCase(), actual: refUID });
  else list.leave('the link to the day before', 'the row of that day is not known here, or not on chain');
}

/**
 * @param {CheckList} list
 * @param {Evidence} evidence
 * @param {PredictionData} data
 */
function checkMetadata(list, { metadata }, data) {
  if (metadata === null || 'problem' in metadata) {
    return list.leave('the published metadata', metadata === null ? 'nothing was published under what it names' : metadata.problem);
  }
  const what = `The published metadata (${cidOf(data.metadata).slice(0, 12)}…) has the digest that it names.`;
  list.add('metadata', what, { expected: data.metadata, actual: digestOf(metadata.bytes) });
}

/**
 * What a row says of an open forecast, against the commitment; where it says nothing, that has to wait.
 * @param {CheckList} list
 * @param {Evidence} evidence
 * @param {PredictionData} data
 */
export function checkOpenRow(list, { row, salt, now }, { commitment, resolvesAt }) {
  const { status, missed, resolved, outcome, btcAtResolution, returnBps } = row;
  const claims = resolved || outcome !== null || btcAtResolution !== null || returnBps !== null || !['PENDING', 'VOID'].includes(status);
  list.add('status', 'The row names no resolution, and claims no outcome.', {
    expected: 'no outcome is claimed',
    actual: claims ? `${status}, or an outcome` : 'no outcome is claimed',
  });
  if (missed) return;
  const ended = now.getTime() / 1_000 > resolvesAt;
  const until = ended
    ? 'its window is over, and the outcome is not on chain yet'
    : `the outcome is on chain, after ${isoOf(resolvesAt).slice(0, 10)}`;
  if (row.direction === null) {
    list.leave(
      'signal, direction, confidence and P(up)',
      ended ? until : `they are gated until ${until}: then they have to open the commitment`,
    );
  } else if (salt === null)
    list.leave('signal, direction, confidence and P(up)', 'the service tells no salt that would open the commitment');
  else checkOpening(list, { row, salt, commitment });
  if (status === 'PENDING') list.leave('the outcome', ended ? until : `not before ${isoOf(resolvesAt).slice(0, 10)}`);
}

/**
 * @param {CheckList} list
 * @param {{ row: ScorecardRow, salt: string, commitment: string }} opening
 */
function checkOpening(list, { row, salt, commitment }) {
  const what = 'Salt, signal, direction, confidence, P(up) and price, as told to you, give the commitment: it was made of them.';
  list.add('commitment', what, { expected: commitment, actual: commitmentOfRow(row, salt) });
}

/** @param {ScorecardRow} row @param {string} salt */
function commitmentOfRow({ signal, direction, confidence, pUp, btcPrice }, salt) {
  try {
    return commitmentOf({
      salt,
      signal: SIGNALS.indexOf(String(signal)),
      direction: DIRECTIONS.indexOf(String(direction)),
      confidenceBps: wholeOf(confidence, 10_000),
      pUpBps: wholeOf(pUp, 10_000),
      btcPriceCents: wholeOf(btcPrice, 100),
    });
  } catch {
    return 'none: a value could not have been committed to';
  }
}

/**
 * The whole number that a figure was made from; NaN where it was made from none.
 * @param {number | null} value
 * @param {number} scale
 */
function wholeOf(value, scale) {
  const whole = Math.round((value ?? Number.NaN) * scale);
  return whole / scale === value ? whole : Number.NaN;
}
