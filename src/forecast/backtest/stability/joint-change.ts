import { interpolateQuantile } from '../../math/mean.ts';

/** From the best to the worst. */
export const STABILITIES = ['STABLE', 'MODERATE', 'OVERFIT'] as const;
export type Stability = (typeof STABILITIES)[number];

/**
 * Levels of perturbation with limits of the 95th percentile of the absolute accuracy change, in percentage points: STABLE within all
 * `stablePoints`, MODERATE within all `moderatePoints`, else OVERFIT.
 */
export const PERTURBATIONS = [
  { levelPct: 10, stablePoints: 1, moderatePoints: null },
  { levelPct: 20, stablePoints: 2, moderatePoints: 5 },
] as const;

/** Absolute accuracy changes of one horizon by joint perturbations of one level, in percentage points; null without calls. */
export interface JointChange {
  levelPct: number;
  draws: number;
  p50Points: number | null;
  p95Points: number | null;
  maxPoints: number | null;
}

/** Quantiles of the absolute changes; null changes had no call. */
export function summarizeJointChange(levelPct: number, changes: readonly (number | null)[]): JointChange {
  const sorted = Float64Array.from(changes.flatMap((change) => (change === null ? [] : [Math.abs(change)]))).sort();
  const [p50Points, p95Points, maxPoints] = [0.5, 0.95, 1].map((level) =>
    sorted.length === 0 ? null : interpolateQuantile(sorted, level),
  );
  return { levelPct, draws: sorted.length, p50Points, p95Points, maxPoints };
}

/** Classifies the changes at all levels of `PERTURBATIONS`; null without changes. */
export function classifyStability(joint: readonly JointChange[]): Stability | null {
  if (joint.some(({ p95Points }) => p95Points === null)) return null;
  const isWithin = (limitOf: (level: (typeof PERTURBATIONS)[number]) => number | null) =>
    PERTURBATIONS.every((level, index) => joint[index].p95Points! <= (limitOf(level) ?? Number.POSITIVE_INFINITY));
  if (isWithin(({ stablePoints }) => stablePoints)) return 'STABLE';
  return isWithin(({ moderatePoints }) => moderatePoints) ? 'MODERATE' : 'OVERFIT';
}

export function findWorstStability(results: readonly (Stability | null)[]): Stability | null {
  return STABILITIES.findLast((stability) => results.includes(stability)) ?? null;
}
