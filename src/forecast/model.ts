import { type Day, formatDay, getWeekday, parseDay } from './day.ts';
import { computeScale } from './distribution.ts';
import type { FeatureTable } from './inputs.ts';
import { mean } from './math.ts';

/** The version that walk-forward and variants examine unless another is named: logistic model 0 with distribution 1. */
export const MODEL_NAME = 'm0-d1';
/** Variants tried before the model was fixed; needed to deflate its record for selection. */
export const TRIAL_COUNT = 147;
/** Distributions tried on the same history for `m0-d1` and `m1`: 28, then 8 hypotheses, 2 reductions, and one choice after the last look. */
export const DISTRIBUTION_TRIAL_COUNT = 39;
/** Horizons in days; 1 for the scorecard only. */
export const HORIZONS = [1, 2, 3, 7] as const;
export type HorizonDays = (typeof HORIZONS)[number];
export type HorizonName = `${HorizonDays}d`;

export function formatHorizonName(horizonDays: number): HorizonName {
  return `${horizonDays as HorizonDays}d`;
}

export const BLOCK_DAYS = 180;
/** First day of block 0, the first test fold. */
const BLOCK_ORIGIN: Day = parseDay('2017-04-03');
/** Earliest fitted block; blocks below 0 only feed the calibration of later ones. */
export const FIRST_BLOCK = -6;
/** Days at the end of training that give the residual distribution. */
export const RESIDUAL_DAYS = 1461;
/** Minimum training days of a block, about two years. */
export const MIN_TRAINING_DAYS = 730;
export const TRAINING_START: Day = parseDay('2012-01-01');
/** Days between the last training label and the first day of the block. */
export const EMBARGO_DAYS = 7;
/** Input scores in the order of the slopes. */
export const MODEL_INPUTS = ['trend', 'momentum', 'flow', 'value', 'vol'] as const;

/** One fit: all parameters needed to forecast the days of its block. */
export interface HorizonModel {
  modelVersion: string;
  block: number;
  horizonDays: HorizonDays;
  trainFrom: Day;
  trainTo: Day;
  nTrain: number;
  /** Shrunk share of rises among the training days. */
  baseRate: number;
  /** Intercept, then the slopes of `MODEL_INPUTS`. */
  beta: readonly number[];
  meanX: readonly number[];
  /** Calibration: logit p = logit(baseRate) + calA + calB * deviation. */
  calA: number;
  calB: number;
  /** 199 quantiles, at .005 to .995, of h-day log returns over their scale. */
  residualQuantiles: readonly number[];
  /** What `m1` adds at the horizons where it differs. */
  weekdayWidths?: M1Fit;
}

/** Block of a day; block 0 starts on `BLOCK_ORIGIN`, earlier ones are negative. */
export function getBlockIndex(day: Day): number {
  return Math.floor((day - BLOCK_ORIGIN) / BLOCK_DAYS);
}

export function getBlockStart(block: number): Day {
  return BLOCK_ORIGIN + block * BLOCK_DAYS;
}

/** Rules that keep future outcomes out of training; canaries pass broken ones. */
export interface LearningRules {
  /** Last day whose outcome, `horizonDays` later, is known once `day` has closed: the purge. */
  lastKnownDay(day: Day, horizonDays: number): Day;
  embargoDays: number;
}

export const LEARNING_RULES: LearningRules = {
  lastKnownDay: (day, horizonDays) => day - horizonDays,
  embargoDays: EMBARGO_DAYS,
};

/** First day excluded from a block's training: labels end an embargo before the block. */
export function getTrainingEnd(block: number, horizonDays: HorizonDays, rules: LearningRules = LEARNING_RULES): Day {
  return rules.lastKnownDay(getBlockStart(block), horizonDays) - rules.embargoDays;
}

/** `<name>.<first day of the block>`, such as `m0-d1.2026-08-14`. */
export function formatModelVersion(block: number, name: string = MODEL_NAME): string {
  return `${name}.${formatDay(getBlockStart(block))}`;
}

/** Horizons in days at which the model differs from `m0-d1`: at 7 days the last look found no gain. */
export const M1_HORIZONS = [1, 2, 3] as const;
export type M1Horizon = (typeof M1_HORIZONS)[number];

/** One fit: all parameters needed to forecast the days of its block. */
export interface M1Fit {
  horizonDays: M1Horizon;
  weekdayFactors: WeekdayFactors;
  /** 199 quantiles, at .005 to .995, of h-day log returns over the scale from returns, and over the scale from ranges. */
  returnQuantiles: readonly number[];
  rangeQuantiles: readonly number[];
}

const WEEK_DAYS = 7;
/** Observations of the mean factor 1 that each weekday's own is shrunk by. */
const PSEUDO_COUNT = 26;

/** Factors of the daily variance, Monday to Sunday; their mean is 1. */
export type WeekdayFactors = readonly number[];

/** Factors from the absolute returns over their scale of the rows `from` (inclusive) to `to` (exclusive). */
export function fitWeekdayFactors(closes: Float64Array, { firstDay, v94, v99 }: FeatureTable, from: number, to: number): WeekdayFactors {
  const sums = new Float64Array(WEEK_DAYS);
  const counts = new Float64Array(WEEK_DAYS);
  for (let row = from; row < to; row++) {
    const weekday = getWeekday(firstDay + row);
    sums[weekday] += Math.abs(Math.log(closes[row] / closes[row - 1])) / computeScale(v94[row - 1], v99[row - 1], 1);
    counts[weekday]++;
  }
  const overall = (mean(sums) * WEEK_DAYS) / (to - from);
  const factors = Array.from(sums, (sum, weekday) => {
    const n = counts[weekday];
    return (n * (sum / n / overall) ** 2 + PSEUDO_COUNT) / (n + PSEUDO_COUNT);
  });
  const average = mean(factors);
  return factors.map((factor) => factor / average);
}

/** Mean factor of the `horizonDays` days after `day`. */
export function computeWindowFactor(factors: WeekdayFactors, day: Day, horizonDays: number): number {
  const today = getWeekday(day);
  let sum = 0;
  for (let ahead = 1; ahead <= horizonDays; ahead++) sum += factors[(today + ahead) % WEEK_DAYS];
  return sum / horizonDays;
}
