import { type HorizonDays, TRIAL_COUNT } from '../../model.ts';
import { type CscvResult, computeCscv } from './cscv.ts';
import { computeDeflatedSharpe, computeExpectedBestSharpe, sampleStandardDeviation } from './deflated-sharpe.ts';
import type { HorizonTrials } from './variant-trials.ts';
import { VARIANTS } from './variants.ts';

/** S in the paper of `cscv.ts`. */
const CSCV_BLOCKS = 16;
/** Shorter blocks mostly share their windows with their neighbours. */
const MIN_BLOCK_DAYS = 30;

/** Probability of backtest overfitting over the variants of one horizon. */
export interface BacktestOverfitting extends Omit<CscvResult, 'chosen'> {
  variants: number;
  /** Variants most often best of their half, with the share of splits. */
  chosen: { id: string; share: number }[];
}

export interface HorizonOverfitting {
  horizonDays: HorizonDays;
  folds: number;
  days: number;
  modelBrier: number | null;
  /** Rank of the model among the variants by Brier score, from 1. */
  modelRank: number | null;
  best: { id: string; brier: number } | null;
  /** Null with fewer than 480 days. */
  pbo: BacktestOverfitting | null;
  deflatedSharpe: ReturnType<typeof computeDeflatedSharpeFigures> | null;
}

export function buildHorizonOverfitting({ horizonDays, folds, trials }: HorizonTrials): HorizonOverfitting {
  const briers = trials.map(({ brier }) => brier ?? Number.POSITIVE_INFINITY);
  const least = Math.min(...briers);
  const days = trials[0].losses.length;
  const isLong = days >= CSCV_BLOCKS * MIN_BLOCK_DAYS;
  return {
    horizonDays,
    folds,
    days,
    modelBrier: trials[0].brier,
    modelRank: days === 0 ? null : 1 + briers.filter((brier) => brier < briers[0]).length,
    best: days === 0 ? null : { id: VARIANTS[briers.indexOf(least)].id, brier: least },
    pbo: isLong ? computeBacktestOverfitting(trials.map(({ losses }) => losses)) : null,
    deflatedSharpe: isLong ? computeDeflatedSharpeFigures(trials) : null,
  };
}

const MAX_CHOSEN_SHOWN = 5;

function computeBacktestOverfitting(losses: readonly Float64Array[]): BacktestOverfitting {
  const { chosen, ...found } = computeCscv({ losses, blocks: CSCV_BLOCKS });
  const shares = chosen.map((count, index) => ({ id: VARIANTS[index].id, share: count / found.splits }));
  const most = shares.sort((a, b) => b.share - a.share).slice(0, MAX_CHOSEN_SHOWN);
  return { ...found, variants: losses.length, chosen: most.filter(({ share }) => share > 0) };
}

/** Sharpe ratios of following the calls against holding, deflated by the number of trials. Per day, not annualised. */
function computeDeflatedSharpeFigures(trials: HorizonTrials['trials']) {
  const { followed, held, excess } = trials[0];
  const variantDeviation = sampleStandardDeviation(trials.flatMap((trial) => trial.excess.sharpe ?? []));
  // The variants are correlated; the trials that are not recomputable were not.
  const independentDeviation = 1 / Math.sqrt(excess.n);
  const expectedBest = computeExpectedBestSharpe(TRIAL_COUNT, Math.max(variantDeviation, independentDeviation));
  return {
    days: excess.n,
    followedSharpe: followed.sharpe,
    heldSharpe: held.sharpe,
    excessSharpe: excess.sharpe,
    excessSkewness: excess.skewness,
    excessKurtosis: excess.kurtosis,
    trials: TRIAL_COUNT,
    variantDeviation,
    independentDeviation,
    expectedBest,
    // That the true ratio exceeds the expected one; null where the calls equal holding.
    probability: computeDeflatedSharpe(excess, expectedBest),
  };
}
