import { DIRECTIONS, hashOpening, type PredictionData, SIGNALS } from '../chain/eas.ts';
import type { ScorecardRow } from '../state/responses.ts';
import { type CheckList, formatIsoSeconds } from './check-list.ts';
import type { Evidence } from './evidence/evidence.ts';

const CALL_FIELDS = 'signal, direction, confidence, P(up) and price at signal time';

export function hasOutcomeClaim({ resolved, outcome, btcAtResolution, returnBps, resolvedAt, status }: ScorecardRow) {
  const figures = [outcome, btcAtResolution, returnBps, resolvedAt];
  return resolved || figures.some((figure) => figure !== null) || !['PENDING', 'VOID'].includes(status);
}

/** Compares an unresolved row with the commitment, as far as the call is visible. */
export function checkUnresolvedRow(list: CheckList, evidence: Evidence, data: PredictionData) {
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

function checkCall(list: CheckList, { row, salt, now }: Evidence, { commitment, resolvesAt }: PredictionData) {
  const { direction, missed, status } = row;
  if (missed || direction === null) checkNoCall(list, row);
  if (missed) return;
  if (direction !== null && salt !== null) checkCommitmentOpening(list, { row, salt, commitment });
  else if (direction !== null) list.leave(CALL_FIELDS, 'the service returns no salt to open the commitment');
  else if (status === 'VOID')
    list.leave(CALL_FIELDS, 'a void forecast is never resolved on chain; its salt is published once the window has ended');
  else list.postpone(CALL_FIELDS, explainGated(resolvesAt, now));
}

function explainGated(resolvesAt: number, now: Date) {
  const end = formatIsoSeconds(resolvesAt).slice(0, 10);
  return now.getTime() / 1_000 > resolvesAt
    ? `they are hidden until resolved: the window ended on ${end}, and the service names no outcome`
    : `they are hidden until resolved, after ${end}, and must then open the commitment`;
}

function checkNoCall(list: CheckList, { missed, signal, direction, confidence, pUp }: ScorecardRow) {
  const what = missed ? 'The row shows no call, as none was made.' : 'The row shows nothing of the hidden call.';
  const isSilent = (missed ? signal === null : signal === 'GATED') && direction === null && confidence === null && pUp === null;
  list.add('call', what, { expected: 'no call', actual: isSilent ? 'no call' : 'a part of one' });
}

function deferOpeningClose(list: CheckList, { row: { btcAtSignal, provisional, status }, neighbours: { openingClose } }: Evidence) {
  const what = 'the close at window open';
  if (btcAtSignal === null || provisional) return;
  const word = openingClose === null ? 'only the service claims it' : 'another row ended with the same close';
  if (status === 'VOID') list.leave(what, `a void forecast is never resolved on chain: ${word}`);
  else list.postpone(what, `it is on chain once resolved; until then ${word}`);
}

function checkCommitmentOpening(list: CheckList, { row, salt, commitment }: { row: ScorecardRow; salt: string; commitment: string }) {
  const what = 'Salt, signal, direction, confidence, P(up) and price hash to the commitment.';
  list.add('commitment', what, { expected: commitment, actual: hashRowOpening(row, salt) });
}

function hashRowOpening({ signal, direction, confidence, pUp, btcPrice }: ScorecardRow, salt: string) {
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

/** NaN when the value is not a multiple of `1 / scale`. */
function toWholeUnits(value: number | null, scale: number) {
  const whole = Math.round((value ?? Number.NaN) * scale);
  return whole / scale === value ? whole : Number.NaN;
}
