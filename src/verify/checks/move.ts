import { sha256, stringToBytes } from 'viem';
import { fromQuantilesMicro } from '../../chain/eas/schemas.ts';
import { type Day, formatDay } from '../../forecast/day.ts';
import type { DailyCloses } from '../../forecast/fit.ts';
import { type HorizonDays, TRAINING_START } from '../../forecast/model.ts';
import {
  classifyMoveSize,
  computeBigMoveProbability,
  computeWidth80,
  computeWidth90,
  getBigMove,
  MOVE_SIZES,
  type MoveForecast,
} from '../../forecast/move.ts';
import { createMoveReferences, MOVE_REFERENCES, type MoveReference, type MoveScores } from '../../forecast/move-scores.ts';
import { computeMoveSkill, type MoveDay } from '../../forecast/move-skill.ts';
import { selectNonOverlapping } from '../../forecast/signal.ts';
import { type Prediction, type PriceEvidence, type ServedDistributions, type ShownMove, toSubject } from '../evidence.ts';
import { compareAsOne, type FindingSubject, type Findings, getRoundingTolerance, NO_SUBJECT } from '../findings.ts';

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
      typeof modelVersion === 'string' &&
      (MOVE_SIZES as readonly unknown[]).includes(moveSize) &&
      isProbability(pBig) &&
      [bigMove, width80, width90, calmUpTo, wildFrom].every((figure) => typeof figure === 'number');
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

const isProbability = (value: unknown) => typeof value === 'number' && value >= 0 && value <= 1;

/** Where prices determine the references of the size of the move, and how exactly. */
export type ReferenceCheck = ReturnType<typeof createReferenceCheck>;

/** @param history closes since the first training day; null: the references are not recomputed */
export function createReferenceCheck(history: DailyCloses | null, prices: Pick<PriceEvidence, 'toleranceBps'> | null) {
  const compute = createMoveReferences();
  const known = history && dropEarlierGaps(history);
  const gap = known?.closes.findIndex(Number.isNaN) ?? 0;
  const length = gap === -1 ? known!.closes.length : gap;
  const isOwnSource = prices?.toleranceBps === 0;
  const doubts: string[] = [];
  let undetermined = 0;
  return {
    /** Undefined: not determined. GARCH never is: no check fits it. */
    expect({ day, horizonDays, priceUsd }: ReferenceQuery): Partial<Record<MoveReference, number>> {
      const row = day - (known?.firstDay ?? day);
      const isKnown = row > 0 && row <= length;
      const found = isKnown ? compute({ closes: known!, day, priceUsd, horizonDays: horizonDays as HorizonDays, garch: null }) : null;
      if (found === null) undetermined++;
      return { ...(found?.frequency != null && { frequency: found.frequency }), ...(found?.ewma != null && { ewma: found.ewma }) };
    },
    getTolerance: isOwnSource ? getRoundingTolerance : getReferenceTolerance,
    onDoubt: ({ day, horizonDays }: Pick<ReferenceQuery, 'day' | 'horizonDays'>) => {
      return ({ path, expected, found }: { path: string; expected: number; found: number }) =>
        void doubts.push(`${formatDay(day)} ${horizonDays}d ${path} ${found.toFixed(3)}, with these prices ${expected.toFixed(3)}`);
    },
    report(findings: Findings): void {
      if (undetermined > 0) findings.note(`references of ${undetermined} sizes of the move were not recomputed: ${NO_HISTORY}`);
      const what = `${doubts.length} references of the size of the move cannot be decided with prices of another source`;
      if (doubts.length > 0) findings.leave('scores', NO_SUBJECT, `${what}, such as ${doubts[0]}`);
    },
  };
}

interface ReferenceQuery {
  day: Day;
  horizonDays: number;
  /** At the forecast, as on chain. */
  priceUsd: number;
}

const NO_HISTORY = 'no prices were read that cover the training years';

/** Gaps before the training years change nothing. */
function dropEarlierGaps({ firstDay, closes }: DailyCloses): DailyCloses {
  const from = closes.findLastIndex((close, row) => Number.isNaN(close) && firstDay + row < TRAINING_START) + 1;
  return { firstDay: firstDay + from, closes: closes.subarray(from) };
}

/**
 * For closes of another source: between two real ones references differ by up to .014 and .025, and by .13 and .24 where each close is moved
 * by the tolerance of 100 bps, up and down in turn.
 */
function getReferenceTolerance(path: string, expected: number): readonly [equal: number, doubtful: number] {
  if (path === 'move.references.frequency') return [0.015, 0.15];
  return path === 'move.references.ewma' ? [0.025, 0.3] : getRoundingTolerance(path, expected);
}

/** The proven size of the move with what the service serves of its references, which are compared on their own. */
export function toProvenMove(
  { moveSize, pBig, bigMove }: MoveForecast,
  realised: number,
  served: Readonly<Record<string, number | null>>,
): MoveScores {
  const references = Object.fromEntries(MOVE_REFERENCES.map((name) => [name, isProbability(served[name]) ? served[name]! : null]));
  return { moveSize, pBig, big: Math.abs(realised) > bigMove, references: references as MoveScores['references'] };
}

/** An opened forecast. Only its row says whether it was replayed; null: the service shows none. */
export type OpenedMove = Omit<MoveDay, 'replayed'> & { horizonDays: number; replayed: boolean | null };

/** Compares the figures of the size of the move by horizon. @param claimed undefined: the service claims none */
export function checkMoveSkills(opened: readonly OpenedMove[], claimed: ReadonlyMap<number, unknown>, findings: Findings): void {
  for (const [horizonDays, found] of claimed) {
    const members = opened.filter((one) => one.horizonDays === horizonDays).sort((a, b) => a.day - b.day);
    const days = members.filter((one): one is OpenedMove & MoveDay => one.replayed !== null);
    // A row that is missing has failed a check of its own.
    if (found === undefined || days.length < members.length) continue;
    const expected = computeMoveSkill(selectNonOverlapping(days, 1), horizonDays);
    compareAsOne({ path: 'moveSkill', expected, found }, 'figure', { subject: { ...NO_SUBJECT, horizonDays }, findings });
  }
}
