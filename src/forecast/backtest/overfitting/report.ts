import { TRIAL_COUNT } from '../../model.ts';
import { classifyRegimes } from '../../regime/regime.ts';
import { formatFoldNote } from '../fold-note.ts';
import { JUDGED_HORIZONS } from '../judged-horizons.ts';
import { type BacktestHistory, EXPECTED_FOLDS } from '../out-of-sample.ts';
import { buildHorizonOverfitting, type HorizonOverfitting } from './horizon-overfitting.ts';
import { buildTrialLedger, type LedgerRow } from './trial-ledger.ts';
import { runHorizonTrials } from './variant-trials.ts';
import { formatOverfittingVerdict } from './verdict.ts';

/** What trying many models is worth: whether choosing by the past works, and what is left of the model after a discount for luck. */
export interface OverfittingReport {
  folds: number;
  expectedFolds: number;
  note: string | null;
  verdict: string;
  /** Trials that are discounted for. */
  trials: number;
  horizons: HorizonOverfitting[];
  ledger: LedgerRow[];
}

/** The report of a history; with figures of null where it is too short for them. Deterministic. */
export function buildOverfittingReport(history: BacktestHistory): OverfittingReport {
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
