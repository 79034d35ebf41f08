import { quantile } from '../../distribution.ts';
import type { Fold } from '../out-of-sample.ts';
import { computeReferenceSkill, type ReferenceSkill } from '../skill-against-reference.ts';

/** Levels of the tails that are told apart. */
export const TAIL_LEVELS = [0.05, 0.95] as const;

/** How good one quantile of the distributions is: mean pinball loss in log-return units against that of the same quantile of the returns of all training days. */
export interface QuantileSkill extends ReferenceSkill {
  level: number;
}

/** Skill of the quantiles that bound the central 90 %. */
export function computeQuantileSkills(folds: readonly Pick<Fold, 'climatology' | 'days'>[]): QuantileSkill[] {
  const losses = folds.flatMap(computePinballLosses);
  return TAIL_LEVELS.map((level, index) => ({ level, ...computeReferenceSkill(losses.map(({ day, at }) => ({ day, ...at[index] })))! }));
}

/** Losses of each day at each of `TAIL_LEVELS`. */
function computePinballLosses({ climatology, days }: Pick<Fold, 'climatology' | 'days'>) {
  const usual = TAIL_LEVELS.map((level) => quantile(climatology, level));
  return days.map(({ day, predictive, realised }) => {
    const at = TAIL_LEVELS.map((level, index) => ({
      ours: pinballLoss(realised - quantile(predictive, level), level),
      theirs: pinballLoss(realised - usual[index], level),
    }));
    return { day, at };
  });
}

/** Loss of a quantile: what lies above it counts `level`, what lies below `1 - level`. */
function pinballLoss(error: number, level: number): number {
  return error >= 0 ? level * error : (level - 1) * error;
}
