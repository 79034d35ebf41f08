/** From the best to the worst. */
export const STABILITIES = ['STABLE', 'MODERATE', 'OVERFIT'] as const;

export type Stability = (typeof STABILITIES)[number];

/**
 * By how much thresholds are moved, and what the 95th percentile of the absolute change in accuracy may be (percentage points): STABLE
 * within all of `stablePoints`, MODERATE within all of `moderatePoints`, else OVERFIT.
 */
export const PERTURBATIONS = [
  { levelPct: 10, stablePoints: 1, moderatePoints: null },
  { levelPct: 20, stablePoints: 2, moderatePoints: 5 },
] as const;

/** What joint changes of one level did to the accuracy of one horizon's calls: absolute changes in percentage points, null without calls. */
export interface JointChange {
  levelPct: number;
  /** Draws that led to any call. */
  draws: number;
  p50Points: number | null;
  p95Points: number | null;
  maxPoints: number | null;
}

/** The distribution of absolute changes; those that are null had no call to judge. */
export function summarizeJointChange(levelPct: number, changes: readonly (number | null)[]): JointChange {
  const sorted = Float64Array.from(
    changes.filter((change) => change !== null),
    Math.abs,
  ).sort();
  return {
    levelPct,
    draws: sorted.length,
    p50Points: quantileOrNull(sorted, 0.5),
    p95Points: quantileOrNull(sorted, 0.95),
    maxPoints: quantileOrNull(sorted, 1),
  };
}

/** The result of changes at all levels of `PERTURBATIONS`; null where there are none. */
export function classifyStability(joint: readonly JointChange[]): Stability | null {
  if (joint.some(({ p95Points }) => p95Points === null)) return null;
  const isWithin = (limitOf: (level: (typeof PERTURBATIONS)[number]) => number | null) =>
    PERTURBATIONS.every((level, index) => joint[index].p95Points! <= (limitOf(level) ?? Number.POSITIVE_INFINITY));
  if (isWithin(({ stablePoints }) => stablePoints)) return 'STABLE';
  return isWithin(({ moderatePoints }) => moderatePoints) ? 'MODERATE' : 'OVERFIT';
}

/** The worst of several results; null without any. */
export function findWorstStability(results: readonly (Stability | null)[]): Stability | null {
  return STABILITIES.findLast((stability) => results.includes(stability)) ?? null;
}

/** Hyndman and Fan's type 7; null of nothing. */
function quantileOrNull(sorted: Float64Array, level: number): number | null {
  if (sorted.length === 0) return null;
  const position = level * (sorted.length - 1);
  const below = Math.floor(position);
  const above = Math.min(below + 1, sorted.length - 1);
  return sorted[below] + (position - below) * (sorted[above] - sorted[below]);
}
