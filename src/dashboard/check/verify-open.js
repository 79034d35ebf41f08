import { DIRECTIONS, hashOpening, SIGNALS } from '../chain/eas.js';
import { formatIsoSeconds } from './check-list.js';

/** @import { ScorecardRow } from '../state/responses.ts' */
/** @import { CheckList } from './check-list.js' */
/** @import { PredictionData } from '../chain/eas.js' */
/** @import { Evidence } from './verify-row.js' */

const CALL_FIELDS = 'signal, direction, confidence, P(up) and price at signal time';

/** @param {ScorecardRow} row */
export function hasOutcomeClaim({ resolved, outcome, btcAtResolution, returnBps, resolvedAt, status }) {
  const figures = [outcome, btcAtResolution, returnBps, resolvedAt];
  return resolved || figures.some((figure) => figure !== null) || !['PENDING', 'VOID'].includes(status);
}

/**
 * Compares an unresolved row with the commitment, as far as the call is visible.
 * @param {CheckList} list @param {Evidence} evidence @param {PredictionData} data
 */
export function checkUnresolvedRow(list, evidence, data) {
  const { row } = evidence;
  list.add('status', 'The row names no resolution and claims no outcome.', {
    expected: 'no outcome is claimed',
    actual: hasOutcomeClaim(row) ? `${row.status}, or an outcome` : 'no outcome is claimed',
  });
  checkCall(list, evidence, data);
  deferOpeningClose(list, evidence);
  if (row.status !== 'PENDING') return;
  const end = formatIsoSeconds(data.resolvesAt).slice(0, 10);
  const isOver = evidence.now.getTime() / 1_000 > data.resolvesAt;
  list.postpone('the outcome', isOver ? `the window ended on ${end}, and the service names no outcome` : `not before ${end}`);
}

/** @param {CheckList} list @param {Evidence} evidence @param {PredictionData} data */
function checkCall(list, { row, salt, now }, { commitment, resolvesAt }) {
  const { direction, missed, status } = row;
  if (missed || direction === null) checkNoCall(list, row);
  if (missed) return;
  if (direction !== null && salt !== null) checkCommitmentOpening(list, { row, salt, commitment });
  else if (direction !== null) list.leave(CALL_FIELDS, 'the service returns no salt to open the commitment');
  else if (status === 'VOID')
    list.leave(CALL_FIELDS, 'a void forecast is never resolved on chain; its salt is published once the window has ended');
  else list.postpone(CALL_FIELDS, explainGated(resolvesAt, now));
}

/** @param {number} resolvesAt @param {Date} now */
function explainGated(resolvesAt, now) {
  const end = formatIsoSeconds(resolvesAt).slice(0, 10);
  return now.getTime() / 1_000 > resolvesAt
    ? `they are hidden until resolved: the window ended on ${end}, and the service names no outcome`
    : `they are hidden until resolved, after ${end}, and must then open the commitment`;
}

/** @param {CheckList} list @param {ScorecardRow} row */
function checkNoCall(list, { missed, signal, direction, confidence, pUp }) {
  const what = missed ? 'The row shows no call, as none was made.' : 'The row shows nothing of the hidden call.';
  const isSilent = (missed ? signal === null : signal === 'GATED') && direction === null && confidence === null && pUp === null;
  list.add('call', what, { expected: 'no call', actual: isSilent ? 'no call' : 'a part of one' });
}

/** @param {CheckList} list @param {Evidence} evidence */
function deferOpeningClose(list, { row: { btcAtSignal, provisional, status }, neighbours: { openingClose } }) {
  const what = 'the close at window open';
  if (btcAtSignal === null || provisional) return;
  const word = openingClose === null ? 'only the service claims it' : 'another row ended with the same close';
  if (status === 'VOID') list.leave(what, `a void forecast is never resolved on chain: ${word}`);
  else list.postpone(what, `it is on chain once resolved; until then ${word}`);
}

/** @param {CheckList} list @param {{ row: ScorecardRow, salt: string, commitment: string }} opening */
function checkCommitmentOpening(list, { row, salt, commitment }) {
  const what = 'Salt, signal, direction, confidence, P(up) and price hash to the commitment.';
  list.add('commitment', what, { expected: commitment, actual: hashRowOpening(row, salt) });
}

/** @param {ScorecardRow} row @param {string} salt */
function hashRowOpening({ signal, direction, confidence, pUp, btcPrice }, salt) {
  try {
    return hashOpening({
      salt,
      signal: SIGNALS.indexOf(String(signal)),
      direction: DIRECTIONS.indexOf(String(direction)),
      confidenceBps: toWholeUnits(confidence, 10_000),
      pUpBps: toWholeUnits(pUp, 10_000),
      btcPriceCents: toWholeUnits(btcPrice, 100),
    });
  } catch {
    return 'none: a value is out of range';
  }
}

/** NaN when the value is not a multiple of `1 / scale`. @param {number | null} value @param {number} scale */
function toWholeUnits(value, scale) {
  const whole = Math.round((value ?? Number.NaN) * scale);
  return whole / scale === value ? whole : Number.NaN;
}
