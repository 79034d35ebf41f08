import type { Day } from '../day.ts';
import type { IntervalEstimate } from '../math/block-bootstrap.ts';
import { meanBy } from '../math/mean.ts';
import { computeSkill } from '../statistics/probability-statistics.ts';

/** Skill 1 - ours / theirs; above zero ours is better. */
export interface ReferenceSkill extends IntervalEstimate {
  /** Mean score of ours and of the reference; lower is better. */
  ours: number;
  theirs: number;
}

/** Skill of one daily score against another; null where the other was never wrong. */
export function computeReferenceSkill(days: readonly { day: Day; ours: number; theirs: number }[]): ReferenceSkill | null {
  const oursOf = ({ ours }: { ours: number }) => ours;
  const found = computeSkill(days, oursOf, ({ theirs }) => theirs);
  if (found === null) return null;
  const { value, low, high, brier: theirs } = found;
  return { value, low, high, ours: meanBy(days, oursOf), theirs };
}
