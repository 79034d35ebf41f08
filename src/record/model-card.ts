import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { Collection, Db } from 'mongodb';
import type { Hex } from 'viem';
import { OracleError } from '../errors.ts';
import { ETF_START } from '../forecast/backtest/contamination.ts';
import { LAST_LOOK_FOLDS } from '../forecast/backtest/out-of-sample.ts';
import { VARIANTS } from '../forecast/backtest/overfitting.ts';
import { computeEffectiveCount } from '../forecast/bootstrap.ts';
import { formatDay } from '../forecast/day.ts';
import { computeCalibratedLogit, MODEL_SETTINGS, sigmoid } from '../forecast/fit.ts';
import { sum } from '../forecast/math.ts';
import {
  BLOCK_DAYS,
  DISTRIBUTION_TRIAL_COUNT,
  EMBARGO_DAYS,
  formatHorizonName,
  HORIZONS,
  type HorizonModel,
  M1_HORIZONS,
  MODEL_INPUTS,
  TRAINING_START,
  TRIAL_COUNT,
} from '../forecast/model.ts';
import { getModelVersion, type ModelName } from '../forecast/models.ts';
import { MODEL_SERIES } from '../market/inputs.ts';
import { SERIES, type SeriesId } from '../market/series.ts';
import { insertOrFind } from '../platform/mongo.ts';

export interface ModelDoc {
  _id: string;
  block: number;
  horizons: HorizonModel[];
  /** Digest of the input frame through the day before the block: all data that the fit could read. */
  trainingDigest: Hex;
  trials: number;
  fittedAt: Date;
}

const digests = new WeakMap<readonly HorizonModel[], Hex>();

/**
 * sha2-256 of the RFC 8785 JSON of all fits: services with the same digest produce the same forecast from the same inputs. Computed once for
 * each model in memory, which never changes.
 */
export function digestCoefficients({ horizons }: Pick<ModelDoc, 'horizons'>): Hex {
  const known = digests.get(horizons);
  if (known !== undefined) return known;
  const text = canonicalize(horizons) as string;
  const digest: Hex = `0x${createHash('sha256').update(text).digest('hex')}`;
  digests.set(horizons, digest);
  return digest;
}

/** Fitted models, each written once: a version never changes its coefficients. */
export class ModelStore {
  readonly #models: Collection<ModelDoc>;
  readonly #cache = new Map<string, ModelDoc>();

  constructor(db: Db) {
    this.#models = db.collection('models');
  }

  get(version: string): Promise<ModelDoc> {
    return this.getOrCreate(version, () => {
      throw new OracleError('NOT_FOUND', `There is no model ${version}`);
    });
  }

  async getOrCreate(version: string, make: () => ModelDoc): Promise<ModelDoc> {
    const model = this.#cache.get(version) ?? (await this.#models.findOne({ _id: version })) ?? (await insertOrFind(this.#models, make()));
    this.#cache.set(version, model);
    return model;
  }
}

const MAX_HORIZON_DAYS = Math.max(...HORIZONS);
const YEAR_DAYS = 365;

/** Effective sample size of one call per day over a year: overlapping windows share their returns. */
export function countIndependentCallsPerYear(horizonDays: number): number {
  return computeEffectiveCount([...Array(YEAR_DAYS).keys()], horizonDays);
}

const slopeDeviation = Math.sqrt(1 / MODEL_SETTINGS.slopePrecision);
const { pseudoCount } = MODEL_SETTINGS;

/** Trials of that study, after those that the model was selected from. */
const STUDY_TRIALS = {
  /** Candidates for P(up): those of the eight hypotheses, and those of the last look. */
  direction: [32, 4],
  distribution: 1,
  signalRules: 3,
  relativeTests: 2,
} as const;

const directionTrials = [TRIAL_COUNT, ...STUDY_TRIALS.direction];

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

/** Figures and error bars are in the self-tests and in docs/MODEL.md; those of the study of November 2026 are recorded here alone. */
export const KNOWN_FAILURES: readonly string[] = [
  'Direction: no skill distinguishable from the base rate was found at any horizon. Expect the accuracy of always saying UP.',
  `Study of the direction: pre-registered, November 2026, on the recorded days of the walk-forward and not on the record of a service. Eight hypotheses were written down before any fit, selected on folds 1 to 14 and looked at once on folds 15 to 19. None yields a P(up) that calls both ways without being worse than that of this model, which says DOWN on 11.8, 0.6, 0.2 and 0 % of 3,420 days at 1d, 2d, 3d and 7d, and repeats its signal of the day before on 94 to 96 %. Every candidate that says DOWN is wrong more often than right on those days: 43 to 48 % right where it claims 51 to 52 %. On the last look the Brier score of the best was worse by 0.51 % (95 % interval -0.07 to 1.02), at 3d by 0.74 % (0.15 to 1.27).`,
  'Tilt, P(up) less the base rate, as a relative signal: days in the top third of the two years before rose 4.5 points more often on folds 1 to 14 (95 % interval 0.9 to 7.9), 1.1 points less often on folds 15 to 19 (-7.5 to 4.4). Not confirmed.',
  `Reference of the Brier skill: the base rate contains the rises of 2012 and 2013, and is 2.4 to 2.7 points too high on the recorded days. Against the rises of the last four years, equally shrunk, the skill is 0.01, 0.06, 0.09 and 0.03 % at 1d, 2d, 3d and 7d.`,
  `Selection bias: ${TRIAL_COUNT} variants of the direction were tried on the same history before this one was fixed, and ${DISTRIBUTION_TRIAL_COUNT} of the distribution for this and its challenger. The self-test recomputes ${VARIANTS.length} of the former with their intervals; the others are only counted. With that discounted, its record on history proves nothing. With the study the trials are ${sum(directionTrials)} of the direction (${directionTrials.join(' + ')}), ${DISTRIBUTION_TRIAL_COUNT + STUDY_TRIALS.distribution} of the distribution, ${STUDY_TRIALS.signalRules} signal rules and ${STUDY_TRIALS.relativeTests} relative tests. Its distribution, the DVOL index beside \`m1\`, gained 0.06 % at 1d to 3d on the last look (-0.01 to 0.13) and lowered the coverage.`,
  'SELL: on real history P(up) was never low enough for one. The path exists, and is tested with synthetic input.',
  `Distribution: the skill lies in the quantiles, is small, and depends on the reference. It is larger against all returns since ${formatDay(TRAINING_START)} than against those of the last four years; against the latter it is indistinguishable from zero at ${formatHorizonName(MAX_HORIZON_DAYS)}, and at every horizon of the days since ${formatDay(ETF_START)} alone.`,
  'Size of the move: looked at once after the last look of the study, so exploratory. A move is big beyond a fall of 3 % at 1d and of 5 % at 2d, 3d and 7d, or a rise of the same log size; its probability is that of the quantiles of `m1` less their median. Brier skill against the share of the last 1461 training days: 8.3 % at 1d, 7.5 % at 2d, 6.9 % at 3d. Most of it is that of any good volatility: a plain EWMA (0.94) with its own residuals has 6.8, 6.3 and 6.0 %. Against that EWMA it is 1.63 % (0.64 to 2.65), 1.28 % (0.31 to 2.29) and 0.98 % (0.07 to 1.91), on folds 15 to 19 alone distinguishable from zero at 1d only. At 7d the Brier score is below the first by 2.2 % (-0.6 to 5.1) and below EWMA by 0.64 % (-0.72 to 1.89), neither distinguishable from zero. The walk-forward below recomputes these figures, with the shares of big moves by size.',
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

export type FitCalibration = ReturnType<typeof describeCalibration>;

/** Calibration may disclose open directions; withholding it only then would too, so that callers without access never get it. */
export function buildFitCard(fit: HorizonModel, mayReadCalibration: boolean) {
  return {
    horizon: formatHorizonName(fit.horizonDays),
    trainedFrom: formatDay(fit.trainFrom),
    trainedTo: formatDay(fit.trainTo),
    trainingDays: fit.nTrain,
    baseRate: fit.baseRate,
    coefficients: toNumberByScore(fit.beta.slice(1)),
    inputMeans: toNumberByScore(fit.meanX),
    calibration: mayReadCalibration ? describeCalibration(fit) : null,
  };
}

/** logit P(up) = logit(baseRate) + intercept + slope * sum of coefficient * (score - mean); bounds for scores in [-1, 1]. */
function describeCalibration(fit: HorizonModel) {
  const slopes = fit.beta.slice(1);
  const centre = sum(slopes.map((slope, index) => -slope * fit.meanX[index]));
  const maxDeviation = sum(slopes.map(Math.abs));
  const pUp = (deviation: number) => sigmoid(computeCalibratedLogit(fit, deviation));
  return { intercept: fit.calA, slope: fit.calB, lowest: pUp(centre - maxDeviation), highest: pUp(centre + maxDeviation) };
}

export function toNumberByScore(values: readonly number[]): Record<ModelScore, number> {
  return Object.fromEntries(MODEL_INPUTS.map((name, index) => [name, values[index]])) as Record<ModelScore, number>;
}

type ModelScore = (typeof MODEL_INPUTS)[number];

/** Scores that each series enters, in the order of `MODEL_INPUTS`. */
const SCORES_BY_SERIES: Partial<Record<SeriesId, readonly ModelScore[]>> = {
  btcClose: ['trend', 'momentum', 'value', 'vol'],
  fearGreed: ['value'],
  realizedPrice: ['value'],
  takerBuyFraction: ['flow'],
  fundingRate: ['flow'],
  gold: ['value'],
  pmi: ['flow'],
  etfFlow: ['flow'],
  sp500: ['flow'],
  dxy: ['flow'],
};

export const MODEL_INPUT_SERIES = MODEL_SERIES.map((series) => {
  const { title, unit, lagDays, staleDays } = SERIES[series];
  return { series, title, unit, lagDays, staleDays, enters: SCORES_BY_SERIES[series] ?? [] };
});

/** What a version adds to the method that all versions share. */
interface VersionStatements {
  /** Data behind its distributions. */
  reads: readonly string[];
  method: readonly string[];
  /** What it gains and where it does not, and how it was chosen. */
  findings: readonly string[];
}

const OUTSIDE_M1 = HORIZONS.filter((days) => !(M1_HORIZONS as readonly number[]).includes(days))
  .map(formatHorizonName)
  .join(', ');
const trialsOf = (name: ModelName) => getModelVersion(name).distributionTrials;
const LAST_LOOK = `folds ${LAST_LOOK_FOLDS.from} to ${LAST_LOOK_FOLDS.to}`;

export const VERSION_STATEMENTS: Readonly<Record<ModelName, VersionStatements>> = {
  'm0-d1': {
    reads: ['daily closes'],
    method: ['The predictive distribution of the method above.'],
    findings: [
      `Trials: ${trialsOf('m0-d1')} distributions were tried before this one was fixed, besides the trials of the direction.`,
      "Weekdays: the width knows none. On recorded history its central 80 % at 1d held 92 % of Saturdays' windows and 71 % of Mondays'.",
    ],
  },
  m1: {
    reads: ['daily closes', 'daily highs and lows; live those of the day until signal time, the median over venues'],
    method: [
      'P(up), direction and signal are those of `m0-d1`. Only the width and the shape of the distribution differ.',
      'PK = ln(high / low)^2 / (4 ln 2) of each UTC day, or the squared log return where high or low is missing, low <= 0, PK <= 0 or PK > 0.5. A = 0.94 * A of the day before + 0.06 * PK from 2012-01-01 on, seeded by the mean PK of the 60 days before.',
      `Weekday factors, for each block of ${BLOCK_DAYS} days: z = abs(log return) / sqrt((v94 + v99) / 2 of the day before), m = (n * (mean z of the weekday / mean z)^2 + 26) / (n + 26) over the last four years of training, scaled to mean 1. W = mean m of the days of the window.`,
      's1 = sqrt(horizon * W * (v94 + v99) / 2), s2 = sqrt(horizon * W * A). Q1, Q2: empirical quantiles of the returns of the last four years of training over s1 and over s2.',
      'Quantile at level u: (s1 * (Q1(u) - Q1(1 - p)) + s2 * (Q2(u) - Q2(1 - p))) / 2 with p = P(up); tails as in `m0-d1`.',
      `At ${OUTSIDE_M1} the distribution of \`m0-d1\`, unchanged.`,
    ],
    findings: [
      `Gain: on ${LAST_LOOK} of recorded history, looked at once after the choice on the folds before them, CRPS is below that of \`m0-d1\` by 1.44 % at 1d and 0.51 % at 2d, with 95 % intervals above zero, and by 0.18 % at 3d, which is indistinguishable from zero.`,
      'No gain: at 7d the same distribution was worse than `m0-d1` by 0.31 %, with a 95 % interval below zero. Leaving out 7d was decided after that last look: it is counted as a trial.',
      `Trials: ${trialsOf('m1')} distributions: ${trialsOf('m0-d1')} until \`m0-d1\`, 8 hypotheses written down before any was run, 2 reductions added before the last look, and the decision on 7d.`,
      'Weekdays: most of the gain comes from their factors. Rotating the labels of the weekdays takes it away.',
      'Record: history does not prove the gain for days to come. Both versions are committed each day, and an anytime-valid test compares them. On history it took 634 days in the median to prove the gain at 1d, so that most of the time the honest verdict is "not proven". Beyond 1d windows overlap, so that the bound of 5 % is not exact there; simulated without a difference it holds.',
    ],
  },
};
