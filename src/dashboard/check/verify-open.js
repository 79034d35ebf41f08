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
  list.add('status', 'The row names no resolution, and claims no outcome.', {
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
  else if (direction !== null) list.leave(CALL_FIELDS, 'the service tells no salt that would open the commitment');
  else if (status === 'VOID')
    list.leave(CALL_FIELDS, 'what is void is never resolved on chain: a salt opens it, which is told once the window is over');
  else list.postpone(CALL_FIELDS, explainGated(resolvesAt, now));
}

/** @param {number} resolvesAt @param {Date} now */
function explainGated(resolvesAt, now) {
  const end = formatIsoSeconds(resolvesAt).slice(0, 10);
  return now.getTime() / 1_000 > resolvesAt
    ? `they are gated until the outcome is on chain: the window ended on ${end}, and the service names no outcome`
    : `they are gated until the outcome is on chain, after ${end}: then they have to open the commitment`;
}

/** @param {CheckList} list @param {ScorecardRow} row */
function checkNoCall(list, { missed, signal, direction, confidence, pUp }) {
  const what = missed ? 'The row shows no call, as none was made.' : 'Of the call, which is gated, the row shows nothing.';
  const isSilent = (missed ? signal === null : signal === 'GATED') && direction === null && confidence === null && pUp === null;
  list.add('call', what, { expected: 'no call', actual: isSilent ? 'no call' : 'a part of one' });
}

/** @param {CheckList} list @param {Evidence} evidence */
function deferOpeningClose(list, { row: { btcAtSignal, provisional, status }, neighbours: { openingClose } }) {
  const what = 'the close at window open';
  if (btcAtSignal === null || provisional) return;
  const word = openingClose === null ? 'it is the word of the service' : 'another row has the same, which ended there';
  if (status === 'VOID') list.leave(what, `what is void is never resolved on chain: ${word}`);
  else list.postpone(what, `it is on chain with the outcome only; until then ${word}`);
}

/** @param {CheckList} list @param {{ row: ScorecardRow, salt: string, commitment: string }} opening */
function checkCommitmentOpening(list, { row, salt, commitment }) {
  const what = 'Salt, signal, direction, confidence, P(up) and price, as told to you, give the commitment: it was made of them.';
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
    return 'none: a value could not have been committed to';
  }
}

/** NaN when the value is not a multiple of `1 / scale`. @param {number | null} value @param {number} scale */
function toWholeUnits(value, scale) {
  const whole = Math.round((value ?? Number.NaN) * scale);
  return whole / scale === value ? whole : Number.NaN;
}
