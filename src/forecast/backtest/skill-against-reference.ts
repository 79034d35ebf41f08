import type { Day } from '../day.ts';
import { computeSkill } from '../statistics/probability-statistics.ts';

/** 1 - ours / theirs, with its 95 % interval by the block bootstrap; above zero ours is better. The bounds are null for a record too short for one. */
export interface ReferenceSkill {
  value: number;
  low: number | null;
  high: number | null;
  /** Mean score of ours and of what it is compared with; lower is better. */
  ours: number;
  theirs: number;
}

/** Skill of one score against another, day by day; null where the other was never wrong. */
export function computeReferenceSkill(days: readonly { day: Day; ours: number; theirs: number }[]): ReferenceSkill | null {
  const found = computeSkill(
    days,
    ({ ours }) => ours,
    ({ theirs }) => theirs,
  );
  if (found === null) return null;
  const { value, low, high, brier: theirs } = found;
  return { value, low, high, ours: days.reduce((sum, { ours }) => sum + ours, 0) / days.length, theirs };
}
