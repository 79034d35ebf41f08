import { countEffective } from './bootstrap.ts';
import { computeEValue, type DayDifference, judgeChallenge, runEProcess } from './challenge.ts';
import { type Day, formatDayOrNull } from './day.ts';
import { toRecord } from './inputs.ts';
import { formatPercent, meanBy, shareOf } from './math.ts';
import { formatHorizonName } from './model.ts';
import { MOVE_SIZES } from './move.ts';
import { computeMoveDifference, MOVE_REFERENCES, type MoveReference, type MoveScores, scoreProbability } from './move-scores.ts';
import { computeShareInterval } from './signal.ts';
import { computeReliability, computeSkill } from './statistics.ts';

/** A resolved forecast with the scores of the size of its move; null without one. */
export interface MoveDay {
  day: Day;
  /** Made by a replay: it counts for the figures, and for no verdict. */
  replayed: boolean;
  move: MoveScores | null;
}

type ScoredMove = MoveDay & { move: MoveScores };

/** References that P(big move) is tested against. Both are shown wherever one is. */
export const TESTED_REFERENCES = ['frequency', 'ewma'] as const satisfies MoveReference[];
export type TestedReference = (typeof TESTED_REFERENCES)[number];

const BIN_COUNT = 10;

export type MoveSkill = ReturnType<typeof computeMoveSkill>;

/** Scores of P(big move) over the resolved days of one horizon. @param resolved by ascending day */
export function computeMoveSkill(resolved: readonly MoveDay[], horizonDays: number) {
  const days = resolved.filter((one): one is ScoredMove => one.move !== null);
  const outcomes = days.map(({ day, move: { pBig, big, moveSize } }) => ({ day, p: pBig, happened: big, moveSize }));
  const describeOutcomes = (members: typeof outcomes) => {
    const bigShare = members.length === 0 ? null : shareOf(members, ({ happened }) => happened);
    const interval95 = bigShare === null ? null : computeShareInterval(bigShare, countEffective(members, horizonDays));
    return { n: members.length, bigShare, interval95 };
  };
  const { n, bigShare } = describeOutcomes(outcomes);
  return {
    n,
    replayed: days.filter(({ replayed }) => replayed).length,
    bigShare,
    brier: n === 0 ? null : meanBy(outcomes, ({ p, happened }) => scoreProbability(p, happened)),
    references: toRecord(MOVE_REFERENCES, (reference) => compareWithReference(days, reference)),
    tests: toRecord(TESTED_REFERENCES, (reference) => testAgainst(days, reference, horizonDays)),
    reliability: computeReliability(outcomes, BIN_COUNT, horizonDays),
    bySize: MOVE_SIZES.map((moveSize) => ({ moveSize, ...describeOutcomes(outcomes.filter((one) => one.moveSize === moveSize)) })),
  };
}

/** On the days that the reference has; null without any, and where it was never wrong. */
function compareWithReference(days: readonly ScoredMove[], reference: MoveReference) {
  const known = days.flatMap(({ day, move: { pBig, big, references } }) => {
    const p = references[reference];
    return p === null ? [] : [{ day, own: scoreProbability(pBig, big), theirs: scoreProbability(p, big) }];
  });
  if (known.length === 0) return null;
  const ofOwn = ({ own }: (typeof known)[number]) => own;
  const skill = computeSkill(known, ofOwn, ({ theirs }) => theirs);
  return skill && { n: known.length, own: meanBy(known, ofOwn), ...skill };
}

/** What the days add to the test of a reference; nothing by a replayed day, which was forecast when its outcome was known. */
export function listMoveDifferences(days: readonly MoveDay[], reference: TestedReference): DayDifference[] {
  return days.flatMap(({ day, replayed, move }) => {
    const p = move?.references[reference] ?? null;
    return replayed || move === null || p === null ? [] : [{ day, difference: computeMoveDifference(move.pBig, p, move.big) }];
  });
}

function testAgainst(days: readonly MoveDay[], reference: TestedReference, horizonDays: number) {
  const process = runEProcess(listMoveDifferences(days, reference), horizonDays);
  const { verdict, since } = judgeChallenge(process);
  return {
    days: process.days,
    verdict,
    since: formatDayOrNull(since),
    eBetter: computeEValue(process.better),
    eWorse: computeEValue(process.worse),
  };
}

const REFERENCE_NAMES: Record<TestedReference, string> = { frequency: 'the four-year frequency', ewma: 'EWMA' };

/** At 7 days earlier data show no skill, so that shares are given instead. */
const SHARES_FROM_DAYS = 7;

/** The figures in one sentence, always against both references. */
export function formatMoveVerdict(skill: MoveSkill, horizonDays: number): string {
  const name = `P(big move) at ${formatHorizonName(horizonDays)}`;
  const { n, replayed } = skill;
  if (n === 0) return `${name}: no resolved day yet, so that nothing is proven.`;
  const days = `${n} resolved ${n === 1 ? 'day' : 'days'}${replayed === 0 ? '' : `, ${replayed} of them replayed`}`;
  const figures = horizonDays >= SHARES_FROM_DAYS ? formatShares(skill) : formatSkills(skill);
  return `${name} on ${days}: ${figures}; ${formatTests(skill)}.`;
}

function formatSkills({ references }: MoveSkill): string {
  const skills = TESTED_REFERENCES.map((reference) => {
    const found = references[reference];
    return `${found === null ? 'unknown' : formatSkillOf(found)} against ${REFERENCE_NAMES[reference]}`;
  });
  return `Brier skill ${skills.join(', ')}`;
}

type ReferenceSkill = NonNullable<MoveSkill['references'][MoveReference]>;

function formatSkillOf({ value, low, high }: Pick<ReferenceSkill, 'value' | 'low' | 'high'>): string {
  const percent = (share: number) => (100 * share).toFixed(1).replace(/^-(0\.0)$/, '$1');
  return `${percent(value)} % (${low === null || high === null ? 'no interval yet' : `${percent(low)} to ${percent(high)}`})`;
}

function formatShares({ bigShare, bySize, brier, references }: MoveSkill): string {
  const shares = bySize.flatMap((one) => (one.bigShare === null ? [] : [`${formatPercent(one.bigShare, 0)} of ${one.n} ${one.moveSize}`]));
  const scores = TESTED_REFERENCES.map((reference) => {
    return `${references[reference]?.brier.toFixed(4) ?? 'unknown'} of ${REFERENCE_NAMES[reference]}`;
  });
  return `big on ${formatPercent(bigShare!, 0)} (${shares.join(', ')}); Brier score ${brier!.toFixed(4)}, ${scores.join(', ')}`;
}

function formatTests({ tests, replayed }: MoveSkill): string {
  const isOpen = TESTED_REFERENCES.every((reference) => tests[reference].verdict === 'not proven');
  const verdict = isOpen ? 'not proven on this record' : TESTED_REFERENCES.map((one) => formatTest(tests[one], one)).join(', ');
  return replayed === 0 ? verdict : `${verdict}, replayed days do not count`;
}

function formatTest({ verdict, since }: MoveSkill['tests'][TestedReference], reference: TestedReference): string {
  const than = REFERENCE_NAMES[reference];
  if (since === null) return `not proven against ${than}`;
  return `proven ${verdict === 'proven worse' ? 'worse' : 'better'} than ${than} since the forecast of ${since}`;
}
