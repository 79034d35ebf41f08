import { quantile } from '../../distribution.ts';
import type { Fold } from '../out-of-sample.ts';
import { computeReferenceSkill, type ReferenceSkill } from '../skill-against-reference.ts';

/** Levels that bound the central 90 %. */
export const TAIL_LEVELS = [0.05, 0.95] as const;

/** Pinball-loss skill of one quantile against the same quantile of the returns of all training days, in log-return units. */
export interface QuantileSkill extends ReferenceSkill {
  level: number;
}

export function computeQuantileSkills(folds: readonly Pick<Fold, 'climatology' | 'days'>[]): QuantileSkill[] {
  const losses = folds.flatMap(computePinballLosses);
  return TAIL_LEVELS.map((level, index) => ({ level, ...computeReferenceSkill(losses.map(({ day, at }) => ({ day, ...at[index] })))! }));
}

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

function pinballLoss(error: number, level: number): number {
  return error >= 0 ? level * error : (level - 1) * error;
}
