import { GARCH } from '../../baselines/garch.ts';
import type { HorizonDays } from '../../model.ts';
import { computeGridCrps } from '../../scoring/grid-scores.ts';
import type { BacktestHistory, Fold } from '../out-of-sample.ts';
import { computeReferenceSkill, type ReferenceSkill } from '../skill-against-reference.ts';

/** CRPS skill of the folds' distributions against GARCH(1,1)-t fitted to the days that each fold may read; expects a fold. */
export function computeGarchSkill(
  history: BacktestHistory,
  folds: readonly Pick<Fold, 'model' | 'days'>[],
  horizonDays: HorizonDays,
): ReferenceSkill {
  const scores = folds.flatMap(({ model, days }) => {
    const forecast = GARCH.fit(history, model.block, horizonDays);
    return days.map(({ day, row, realised, distribution }) => ({
      day,
      ours: distribution.crps,
      theirs: computeGridCrps(forecast(row), realised),
    }));
  });
  // Its quantiles differ, so the score of no outcome is 0.
  return computeReferenceSkill(scores)!;
}
