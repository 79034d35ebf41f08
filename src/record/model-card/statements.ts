import { ETF_START } from '../../forecast/backtest/contamination/eras.ts';
import { VARIANTS } from '../../forecast/backtest/overfitting/variants.ts';
import { formatDay } from '../../forecast/day.ts';
import { MODEL_SETTINGS } from '../../forecast/fit/settings.ts';
import { computeEffectiveCount } from '../../forecast/math/effective-count.ts';
import {
  BLOCK_DAYS,
  DISTRIBUTION_TRIAL_COUNT,
  EMBARGO_DAYS,
  formatHorizonName,
  HORIZONS,
  MODEL_INPUTS,
  TRAINING_START,
  TRIAL_COUNT,
} from '../../forecast/model.ts';

const MAX_HORIZON_DAYS = Math.max(...HORIZONS);
const YEAR_DAYS = 365;

/** Effective sample size of one call per day over a year: overlapping windows share their returns. */
export function countIndependentCallsPerYear(horizonDays: number): number {
  const days = Array.from({ length: YEAR_DAYS }, (_, index) => index);
  return computeEffectiveCount(days, horizonDays);
}

const slopeDeviation = Math.sqrt(1 / MODEL_SETTINGS.slopePrecision);
const { pseudoCount } = MODEL_SETTINGS;

export const METHOD: readonly string[] = [
  `Five scores in [-1, 1] are computed from data known at signal time: ${MODEL_INPUTS.join(', ')}. Each is the squashed mean of its available inputs.`,
  `P(up) = 1 / (1 + exp(-(logit(baseRate) + a + b * d))), d = sum of coefficient * (score - mean of the score in training).`,
  `Coefficients: logistic regression on all days from ${formatDay(TRAINING_START)} on, each weighing 1 / horizon, by IRLS, with a prior N(0, ${slopeDeviation}^2) on each slope.`,
  `baseRate: share of rises in training, shrunk by Beta(${pseudoCount}, ${pseudoCount}). a, b: calibration on earlier blocks' out-of-sample output alone, b within 0 to 1.`,
  `A fit serves ${BLOCK_DAYS} days, with ${EMBARGO_DAYS} days between the end of its last training label and the first of them; a new block is a new model version.`,
  'Predictive distribution: s * (Z - shift), s = sqrt(horizon * (v94 + v99) / 2) from exponentially weighted daily variances, Z the empirical quantiles of scaled returns of the last four years of training, the shift such that P(return > 0) = P(up).',
  'direction is UP where P(up) >= 0.5. signal is BUY or SELL where P(up) is at least theta of the regime away from 0.5, else HOLD.',
];

export const INTENDED_USE: readonly string[] = [
  'A probability and quantiles for the BTC/USD close 1 to 7 days ahead, to compare other forecasts and market prices with.',
  'A public example of a record that is committed before its outcome, complete, and recomputable by any verifier.',
];

export const NOT_INTENDED_FOR: readonly string[] = [
  'Deciding alone whether to buy or sell: it is not advice, and no profit from following it has been shown.',
  'Other assets, other horizons, and prices within a day.',
  'Judging skill from a short streak: see how many independent calls a record is worth.',
];

/** Figures and error bars are in the self-tests and in docs/MODEL.md. */
export const KNOWN_FAILURES: readonly string[] = [
  'Direction: no skill distinguishable from the base rate was found at any horizon. Expect the accuracy of always saying UP.',
  `Selection bias: ${TRIAL_COUNT} variants of the direction were tried on the same history before this one was fixed, and ${DISTRIBUTION_TRIAL_COUNT} of the distribution for this and its challenger. The self-test recomputes ${VARIANTS.length} of the former with their intervals; the others are only counted. With that discounted, its record on history proves nothing.`,
  'SELL: on real history P(up) was never low enough for one. The path exists, and is tested with synthetic input.',
  `Distribution: the skill lies in the quantiles, is small, and depends on the reference. It is larger against all returns since ${formatDay(TRAINING_START)} than against those of the last four years; against the latter it is indistinguishable from zero at ${formatHorizonName(MAX_HORIZON_DAYS)}, and at every horizon of the days since ${formatDay(ETF_START)} alone.`,
  'Shocks: the width of the distribution follows past volatility, so that it reacts late to them.',
  `Overlap: a call of ${formatHorizonName(MAX_HORIZON_DAYS)} on each of ${YEAR_DAYS} days is worth about ${Math.round(countIndependentCallsPerYear(MAX_HORIZON_DAYS))} independent ones by the overlap of their windows alone (the walk-forward also estimates it from the variance of the hit rate, with an interval), and the horizons of one day mostly agree. A small edge there would take decades to show.`,
  'Regimes: their limits were chosen, not learned. The stability test reports how far the accuracy moves with them.',
  "Masked inputs: missing or stale inputs are left out of their score, and a score without inputs counts as 0. The forecast's metadata names them; the quantiles do not widen.",
  'Eras: ETF flows, funding and taker flows exist for part of history only, so that their weights were learned from few years.',
];

export const CAVEATS: readonly string[] = [
  'Method and most inputs are public: a client that recomputes the model knows the forecast before it is revealed.',
  "PMI: for days before this service collected first prints, the live provider's history holds later revisions.",
  'In recorded history the daily close stands for the price at signal time.',
  'Results on simulated data prove the machinery, and nothing about the market.',
];
