import { TRIAL_COUNT } from '../../model.ts';
import type { HorizonTrials } from './variant-trials.ts';
import { VARIANTS } from './variants.ts';

export interface LedgerRow {
  id: string;
  change: string;
  trials: number;
  /** Whether this code can fit it again; if not, there are no figures. */
  recomputable: boolean;
  figures: TrialFigures[];
}

interface TrialFigures extends Pick<HorizonTrials['trials'][number], 'brier' | 'brierSkill' | 'accuracy'> {
  horizonDays: number;
  /** Daily Sharpe ratio of the calls over holding with the same volatility; null where both are equal. */
  excessSharpe: number | null;
}

/** All `TRIAL_COUNT` trials before the model was fixed, with figures where this code can recompute them. */
export function buildTrialLedger(horizons: readonly HorizonTrials[]): LedgerRow[] {
  const recomputable = VARIANTS.map(({ id, change }, index) => ({
    id,
    change,
    trials: 1,
    recomputable: true,
    figures: horizons.map(({ horizonDays, trials }) => {
      const { brier, brierSkill, accuracy, excess } = trials[index];
      return { horizonDays, brier, brierSkill, accuracy, excessSharpe: excess.sharpe };
    }),
  }));
  return [...recomputable, OTHER_TRIALS];
}

const OTHER_TRIALS: LedgerRow = {
  id: 'other-families',
  change:
    'other trials before the model was fixed, not part of this service: forests, boosting, networks and other inputs. They count against the model, but cannot be recomputed here and have no figures. Which of the rows above were among them was not recorded, so each counts as one',
  trials: TRIAL_COUNT - VARIANTS.length,
  recomputable: false,
  figures: [],
};
