import { type Day, formatDay, parseDay } from './day.ts';

/** Name of the method: logistic model 0 with distribution 1. */
export const MODEL_NAME = 'm0-d1';

/** Variants that were tried before this one was fixed; a reader of its record needs the number to discount for luck. */
export const TRIAL_COUNT = 147;

/** Days ahead that are forecast; 1 for the scorecard only. */
export const HORIZONS = [1, 2, 3, 7] as const;

export type HorizonDays = (typeof HORIZONS)[number];

/** A horizon as it is told: `7d`. */
export type HorizonName = `${HorizonDays}d`;

export function formatHorizonName(horizonDays: number): HorizonName {
  return `${horizonDays as HorizonDays}d`;
}

/** A fit serves one block of days. */
export const BLOCK_DAYS = 180;

/** First day of block 0, the first test fold. */
export const BLOCK_ORIGIN: Day = parseDay('2017-04-03');

/** Earliest block that is ever fitted; blocks below 0 only feed the calibration of later ones. */
export const FIRST_BLOCK = -6;

/** First day a model learns from. */
export const TRAINING_START: Day = parseDay('2012-01-01');

/** Days between the last training label and the first day of the block. */
export const EMBARGO_DAYS = 7;

/** Scores the model reads, in the order of its slopes. */
export const MODEL_INPUTS = ['trend', 'momentum', 'flow', 'value', 'vol'] as const;

/** One fit: everything it takes to forecast a day of its block. */
export interface HorizonModel {
  modelVersion: string;
  block: number;
  horizonDays: HorizonDays;
  trainFrom: Day;
  /** Last day whose features and label were learned from. */
  trainTo: Day;
  nTrain: number;
  /** Shrunk share of rises among the training days. */
  baseRate: number;
  /** Intercept, then the slopes of `MODEL_INPUTS`. */
  beta: readonly number[];
  /** Means of `MODEL_INPUTS` over the training days. */
  meanX: readonly number[];
  /** Calibration: logit p = logit(baseRate) + calA + calB * deviation. */
  calA: number;
  calB: number;
  /** 199 quantiles, at .005 to .995, of h-day log returns over their scale. */
  residualQuantiles: readonly number[];
}

/** Number of the block a day lies in; 0 starts on `BLOCK_ORIGIN`, earlier ones are negative. */
export function getBlockIndex(day: Day): number {
  return Math.floor((day - BLOCK_ORIGIN) / BLOCK_DAYS);
}

/** First day of a block. */
export function getBlockStart(block: number): Day {
  return BLOCK_ORIGIN + block * BLOCK_DAYS;
}

/** What may be known when: the rule that keeps outcomes of the future out of training. Backtests hand in broken ones, to see them caught. */
export interface LearningRules {
  /** Last day whose outcome, `horizonDays` later, is known once `day` has closed: the purge. */
  lastKnownDay(day: Day, horizonDays: number): Day;
  embargoDays: number;
}

export const LEARNING_RULES: LearningRules = {
  lastKnownDay: (day, horizonDays) => day - horizonDays,
  embargoDays: EMBARGO_DAYS,
};

/** First day that may not be learned from when fitting a block: labels end an embargo before the block. */
export function getTrainingEnd(block: number, horizonDays: HorizonDays, rules: LearningRules = LEARNING_RULES): Day {
  return rules.lastKnownDay(getBlockStart(block), horizonDays) - rules.embargoDays;
}

/** `m0-d1.<first day of the block>`. */
export function formatModelVersion(block: number): string {
  return `${MODEL_NAME}.${formatDay(getBlockStart(block))}`;
}
