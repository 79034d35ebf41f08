import { sha256, stringToBytes } from 'viem';
import { fromQuantilesMicro } from '../../chain/eas/schemas.ts';
import {
  classifyMoveSize,
  computeBigMoveProbability,
  computeWidth80,
  computeWidth90,
  getBigMove,
  type MoveForecast,
} from '../../forecast/move.ts';
import { type Prediction, type ServedDistributions, type ShownMove, toSubject } from '../evidence.ts';
import { compareAsOne, type FindingSubject, type Findings } from '../findings.ts';

/** What shows the size of the move of one forecast. */
interface MoveEvidence {
  /** The exact text that the service publishes as the day's; undefined: not read. */
  metadata: string | undefined;
  /** What the service shows of the forecast; undefined: not read. */
  shown: ShownMove | undefined;
  /** The committed distributions; null: not opened, or not read. */
  openings: ServedDistributions['openings'] | null;
}

const NO_QUANTILES = 'the quantiles that it follows from are opened after the outcome';

/** Checks the size of the move that the attested metadata states against the row of the service, and against the opened quantiles. */
export function checkMove(prediction: Prediction, { metadata, shown, openings }: MoveEvidence, findings: Findings): void {
  const subject = toSubject(prediction);
  if (metadata === undefined || sha256(stringToBytes(metadata)) !== prediction.data.metadata.toLowerCase()) {
    findings.leave('move', subject, 'the attested metadata of its day was not read', false);
    return;
  }
  const move = parseStatedMove(metadata, prediction.data.horizonDays);
  if (!isStated(move)) {
    const readable = { field: 'moves', expected: 'a size of the move', actual: 'unreadable' };
    findings.fail('move', subject, { ...readable, because: 'the attested metadata does not state the size of the move readably' });
    return;
  }
  if (shown !== undefined) {
    const found = { moveSize: shown.moveSize ?? null, pBig: shown.pBig ?? null };
    compareAsOne({ path: 'row', expected: toShownMove(move), found }, 'move', { subject, findings });
  }
  if (move !== null && openings !== null) checkStated(move, openings, { subject, findings });
  else if (move !== null) findings.leave('move', subject, NO_QUANTILES, false);
  else if (shown === undefined) findings.leave('move', subject, 'the metadata of its day states none', false);
}

/** Quantiles are committed in millionths: tolerances of what follows from them, by name. */
const TOLERANCES: Readonly<Record<string, number>> = { pBig: 2e-5, width80: 3e-6, width90: 3e-6, bigMove: 1e-8 };

function checkStated(
  move: MoveForecast,
  openings: ServedDistributions['openings'],
  { subject, findings }: { subject: FindingSubject; findings: Findings },
): void {
  const opening = openings.find(({ modelVersion }) => modelVersion === move.modelVersion);
  if (opening === undefined) {
    const because = 'no opened distribution is of the version that the size of the move is of';
    findings.fail('move', subject, { field: 'modelVersion', expected: 'an opened distribution', actual: move.modelVersion, because });
    return;
  }
  const grid = fromQuantilesMicro(opening.quantilesMicro);
  const bigMove = getBigMove(subject.horizonDays!);
  const expected = {
    moveSize: classifyMoveSize(move),
    ...{ pBig: computeBigMoveProbability(grid, bigMove), bigMove, width80: computeWidth80(grid), width90: computeWidth90(grid) },
  };
  const getTolerance = (path: string) => [TOLERANCES[path.slice('metadata.'.length)] ?? 0, 0] as const;
  compareAsOne({ path: 'metadata', expected, found: move }, 'move', { subject, findings, getTolerance });
}

/**
 * The size of the move in the metadata of a day; null: it states none, as on a missed day, with too short a history, and before sizes were
 * published.
 */
export function parseStatedMove(metadata: string, horizonDays: number): MoveForecast | null | 'unreadable' {
  try {
    const { moves = {} } = JSON.parse(metadata) as { moves?: Record<string, Record<string, unknown> | null> };
    const move = moves[`${horizonDays}d`] ?? null;
    if (move === null) return null;
    const { modelVersion, moveSize, pBig, bigMove, width80, width90, calmUpTo, wildFrom } = move;
    const isReadable =
      [modelVersion, moveSize].every((text) => typeof text === 'string') &&
      [pBig, bigMove, width80, width90, calmUpTo, wildFrom].every((figure) => typeof figure === 'number');
    return isReadable ? (move as unknown as MoveForecast) : 'unreadable';
  } catch {
    return 'unreadable';
  }
}

export function isStated(move: MoveForecast | null | 'unreadable'): move is MoveForecast | null {
  return move !== 'unreadable';
}

export function toShownMove(move: MoveForecast | null) {
  return { moveSize: move?.moveSize ?? null, pBig: move?.pBig ?? null };
}
