import { TRIAL_COUNT } from '../../model.ts';
import { classifyRegimes } from '../../regime/regime.ts';
import { type BacktestHistory, EXPECTED_FOLDS, formatFoldNote, JUDGED_HORIZONS } from '../out-of-sample.ts';
import { buildHorizonOverfitting } from './horizon-overfitting.ts';
import { buildTrialLedger } from './trial-ledger.ts';
import { runHorizonTrials } from './variant-trials.ts';
import { formatOverfittingVerdict } from './verdict.ts';

/** Backtest overfitting: whether selection by the past works, and the performance deflated by the number of trials. */
export type OverfittingReport = ReturnType<typeof buildOverfittingReport>;

/** The report of a history; figures are null where it is too short. Deterministic. */
export function buildOverfittingReport(history: BacktestHistory) {
  const regimes = classifyRegimes(history.features);
  const all = JUDGED_HORIZONS.map((horizonDays) => runHorizonTrials(history, regimes, horizonDays));
  const folds = Math.min(...all.map((one) => one.folds));
  const horizons = all.map(buildHorizonOverfitting);
  const ledger = buildTrialLedger(all);
  return {
    folds,
    expectedFolds: EXPECTED_FOLDS,
    note: formatFoldNote(folds, history.features),
    verdict: formatOverfittingVerdict(horizons, ledger),
    trials: TRIAL_COUNT,
    horizons,
    ledger,
  };
}
