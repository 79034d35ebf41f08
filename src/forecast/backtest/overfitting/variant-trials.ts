import { buildTrainingBasis, type TrainingBasis } from '../../fit/training-data.ts';
import type { IntervalEstimate } from '../../math/block-bootstrap.ts';
import { mean } from '../../math/mean.ts';
import type { HorizonDays } from '../../model.ts';
import { REGIMES, type Regime } from '../../regime/regime.ts';
import { brierScore } from '../../scoring.ts';
import { toSignal } from '../../signal.ts';
import { type BacktestHistory, fitBlocks, selectCompleteBlocks } from '../out-of-sample.ts';
import { computeReferenceSkill } from '../skill-against-reference.ts';
import { computeReturnMoments, type ReturnMoments } from './deflated-sharpe.ts';
import { computeFollowedReturns } from './followed-returns.ts';
import { VARIANTS, type Variant } from './variants.ts';

interface Trial {
  /** Squared error of P(up) of each day. */
  losses: Float64Array;
  /** Mean of the losses; null without a complete fold. */
  brier: number | null;
  /** Against the base rate known at the time. */
  brierSkill: IntervalEstimate | null;
  /** Share of days with the right direction. */
  accuracy: number | null;
  /** Of the returns of `computeFollowedReturns`. */
  followed: ReturnMoments;
  held: ReturnMoments;
  excess: ReturnMoments;
}

export interface HorizonTrials {
  horizonDays: HorizonDays;
  folds: number;
  /** Aligned with `VARIANTS`. */
  trials: Trial[];
}

export function runHorizonTrials(history: BacktestHistory, regimes: readonly Regime[], horizonDays: HorizonDays): HorizonTrials {
  const basis = buildTrainingBasis({ ...history, horizon: horizonDays });
  const outputs = VARIANTS.map((variant) => runVariant(history, variant, basis));
  const [{ folds, baseRates }] = outputs;
  return { horizonDays, folds, trials: outputs.map((output) => buildTrial(history, regimes, { ...output, baseRates, horizonDays })) };
}

interface VariantOutput {
  folds: number;
  firstRow: number;
  pUp: number[];
  baseRates: number[];
}

function runVariant({ closes, features }: BacktestHistory, { settings }: Variant, basis: TrainingBasis): VariantOutput {
  const blocks = fitBlocks({ closes, features, horizon: basis.horizonDays, settings, basis });
  const folds = selectCompleteBlocks(blocks, closes.length);
  return {
    folds: folds.length,
    firstRow: folds[0]?.from ?? 0,
    pUp: folds.flatMap(({ pUp }) => [...pUp]),
    baseRates: folds.flatMap(({ pUp, model }) => new Array<number>(pUp.length).fill(model.baseRate)),
  };
}

function buildTrial({ closes }: BacktestHistory, regimes: readonly Regime[], output: VariantOutput & { horizonDays: number }): Trial {
  const { firstRow, pUp, baseRates, horizonDays } = output;
  const rose = pUp.map((_, index) => closes[firstRow + index + horizonDays] > closes[firstRow + index]);
  const losses = Float64Array.from(pUp, (p, index) => brierScore(p, rose[index]));
  const positions = pUp.map((p, index) => POSITIONS[toSignal(p, REGIMES[regimes[firstRow + index]].theta)]);
  const { followed, held, excess } = computeFollowedReturns({ closes, firstRow, positions, horizonDays });
  const references = baseRates.map((base, index) => brierScore(base, rose[index]));
  return {
    losses,
    brier: meanOrNull(losses),
    brierSkill: computeBrierSkill(losses, references),
    accuracy: meanOrNull(pUp.map((p, index) => (p >= 0.5 === rose[index] ? 1 : 0))),
    followed: computeReturnMoments(followed),
    held: computeReturnMoments(held),
    excess: computeReturnMoments(excess),
  };
}

const POSITIONS = { BUY: 1, SELL: -1, HOLD: 0 } as const;

function computeBrierSkill(losses: Float64Array, references: readonly number[]): IntervalEstimate | null {
  if (losses.length === 0) return null;
  const { value, low, high } = computeReferenceSkill(Array.from(losses, (ours, day) => ({ day, ours, theirs: references[day] })))!;
  return { value, low, high };
}

function meanOrNull(values: ArrayLike<number>): number | null {
  return values.length === 0 ? null : mean(values);
}
