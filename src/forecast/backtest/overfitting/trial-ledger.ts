import { TRIAL_COUNT } from '../../model.ts';
import type { IntervalEstimate } from '../../statistics/call-statistics.ts';
import type { HorizonTrials } from './variant-trials.ts';
import { VARIANTS } from './variants.ts';

/** What was tried, one or several trials a row. */
export interface LedgerRow {
  id: string;
  change: string;
  /** How many trials the row stands for. */
  trials: number;
  /** Whether this code can fit it again; what it cannot has no figures. */
  recomputable: boolean;
  figures: TrialFigures[];
}

/** What one variant did over all folds of one horizon. */
export interface TrialFigures {
  horizonDays: number;
  /** Mean squared error of P(up); null without a complete fold. */
  brier: number | null;
  /** Brier skill against the base rate that the model knew at the time, with its interval. */
  brierSkill: IntervalEstimate | null;
  /** Share of days on which P(up) was on the right side of one half. */
  accuracy: number | null;
  /** Sharpe ratio per day of following the calls rather than holding with the same risk; null where they are the same. */
  excessSharpe: number | null;
}

/** Everything that was tried before the model was fixed, `TRIAL_COUNT` in all; with figures where they can be had from this code. */
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
    'the rest of what was tried before the model was fixed, and no part of this service: forests, boosting, networks and other inputs. They count against the model; their figures cannot be made again here, so none are given. Which of the rows above were literally among those trials was not written down at the time: each is counted as one',
  trials: TRIAL_COUNT - VARIANTS.length,
  recomputable: false,
  figures: [],
};
