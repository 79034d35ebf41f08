import {
  type Attestation,
  DIRECTIONS,
  decodeResolutionData,
  hashOpening,
  OUTCOMES,
  type PredictionData,
  type ResolutionData,
  SIGNALS,
} from '../chain/eas.ts';
import type { ScorecardRow } from '../state/responses.ts';
import { type CheckList, formatIsoSeconds, parseIsoSeconds } from './check-list.ts';
import type { Evidence } from './evidence/evidence.ts';
import { checkAttestationForm, decodeChecked } from './verify-attestation.ts';

/** Upper limit of the stated confidence. */
const MAX_CONFIDENCE_BPS = 9_900;

/** Compares a row with its resolution, and the resolution with the prediction. */
export function checkResolution(
  list: CheckList,
  { row, attester }: Evidence,
  { found, committed }: { found: Attestation | null; committed: PredictionData },
) {
  const attestation = checkAttestationForm(list, found, { uid: String(row.resolutionUid), attester, schema: 'resolution' });
  if (attestation === null) return;
  list.add('reference', 'It refers to the prediction that it resolves.', {
    expected: String(row.attestationUid).toLowerCase(),
    actual: attestation.refUID,
  });
  const { time } = attestation;
  list.add('time', 'It was made after the outcome window ended.', {
    expected: `not before ${formatIsoSeconds(committed.resolvesAt)}`,
    actual: formatIsoSeconds(time),
    ok: time >= committed.resolvesAt,
  });
  const shownValue = row.resolvedAt === null ? null : formatIsoSeconds(parseIsoSeconds(row.resolvedAt));
  list.add('resolvedAt', 'Its time matches the row.', { expected: shownValue, actual: formatIsoSeconds(time) });
  const data = decodeChecked(list, () => decodeResolutionData(attestation));
  if (data === null) return;
  checkCommitment(list, data, committed);
  checkValues(list, data);
  checkOutcome(list, data);
  checkRevealedRow(list, row, data);
}

function checkCommitment(list: CheckList, data: ResolutionData, { commitment }: PredictionData) {
  const what = 'The revealed salt and values, hashed in this browser, match the commitment.';
  list.add('commitment', what, { expected: commitment, actual: hashOpening(data) });
}

/** BUY implies UP, SELL implies DOWN; the confidence is the probability of the more likely direction. */
function checkValues(list: CheckList, { signal, direction, confidenceBps, pUpBps }: ResolutionData) {
  const impliedDirection = [direction, 1, 2][signal];
  list.add('call', 'Signal and direction agree.', {
    expected: `${SIGNALS[signal]} ${DIRECTIONS[impliedDirection]}`,
    actual: `${SIGNALS[signal]} ${DIRECTIONS[direction]}`,
  });
  // At exactly 50.00 % after rounding, either direction is possible.
  const likelier = pUpBps === 5_000 ? direction : pUpBps > 5_000 ? 1 : 2;
  const probability = Math.min(MAX_CONFIDENCE_BPS, Math.max(pUpBps, 10_000 - pUpBps));
  list.add('likelier', 'The direction is the more likely one and the confidence its probability.', {
    expected: `${DIRECTIONS[likelier]} with ${probability} bps`,
    actual: `${DIRECTIONS[direction]} with ${confidenceBps} bps`,
  });
}

function checkOutcome(list: CheckList, data: ResolutionData) {
  const { btcAtSignalCents, btcAtResolutionCents, returnBps, outcome } = data;
  list.add('return', 'The return in basis points follows from the two closes.', {
    expected: Math.round((btcAtResolutionCents / btcAtSignalCents - 1) * 10_000),
    actual: returnBps,
  });
  list.add('result', 'The outcome follows from the direction and the two closes.', {
    expected: computeOutcome(data),
    actual: OUTCOMES[outcome] ?? `code ${outcome}`,
  });
}

function computeOutcome(data: ResolutionData) {
  if (data.signal === 0) return 'HOLD';
  return (data.direction === 1) === hasRisen(data) ? 'WIN' : 'LOSS';
}

const hasRisen = ({ btcAtSignalCents, btcAtResolutionCents }: ResolutionData) => btcAtResolutionCents > btcAtSignalCents;

/** Compares every value of the row with the resolution. */
function checkRevealedRow(list: CheckList, row: ScorecardRow, data: ResolutionData) {
  const counts = data.outcome !== 0;
  const { outcome } = row;
  const shown: [field: string, name: string, shown: string | number | boolean | null, chain: string | number | boolean | null][] = [
    ['status', 'status', row.status, OUTCOMES[data.outcome] ?? null],
    ['signal', 'signal', row.signal, SIGNALS[data.signal] ?? null],
    ['direction', 'direction', row.direction, DIRECTIONS[data.direction] ?? null],
    ['confidence', 'confidence', row.confidence, data.confidenceBps / 10_000],
    ['pUp', 'P(up)', row.pUp, data.pUpBps / 10_000],
    ['btcPrice', 'price at signal time', row.btcPrice, data.btcPriceCents / 100],
    ['btcAtSignal', 'close at window open', row.btcAtSignal, data.btcAtSignalCents / 100],
    ['btcAtResolution', 'close at resolution', row.btcAtResolution, data.btcAtResolutionCents / 100],
    ['returnBps', 'return in basis points', row.returnBps, data.returnBps],
    ['actualDirection', 'actual direction', outcome?.actualDirection ?? null, counts ? (hasRisen(data) ? 'UP' : 'DOWN') : null],
    ['correct', 'correctness', outcome?.correct ?? null, counts ? data.outcome === 1 : null],
    ['actualReturn', 'return', outcome?.actualReturn ?? null, counts ? data.returnBps / 10_000 : null],
  ];
  for (const [field, name, shownValue, actual] of shown)
    list.add(field, `The row shows the on-chain ${name}.`, { expected: shownValue, actual });
}
