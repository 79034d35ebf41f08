import { formatPercent } from '../forecast/math.ts';
import { formatHorizonName } from '../forecast/model.ts';
import type { MoveReference } from '../forecast/move-scores.ts';
import { type MoveSkill, TESTED_REFERENCES, type TestedReference } from '../forecast/move-skill.ts';

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

export function formatSkillOf({ value, low, high }: Pick<ReferenceSkill, 'value' | 'low' | 'high'>): string {
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
