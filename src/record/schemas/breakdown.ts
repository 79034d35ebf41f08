import { z } from 'zod';
import { COUNT, DATE, PROBABILITY } from '../../platform/validation/fields.ts';
import { HORIZON, INTERVAL, REGIME } from './forecast.ts';
import { BRIER, DIFFERENCE, RECORD_STATISTICS } from './statistics.ts';

export const SHARE = {
  resolved: COUNT.describe('Scored forecasts: wins and losses'),
  wins: COUNT.describe('Scored forecasts whose direction came true'),
  accuracy: PROBABILITY.nullable().describe('Wins / resolved, 0 to 1; null without any'),
  effectiveN: z
    .number()
    .min(0)
    .describe('Effective sample size: independent calls that the scored ones are worth, given the overlap of their windows'),
  dedupedTotal: COUNT.describe('Scored forecasts after removing overlapping windows'),
  accuracyInterval95: INTERVAL.nullable().describe('95 % Wilson interval on `effectiveN` trials, the headline interval; null without any'),
  brier: BRIER.nullable().describe('Brier score of P(UP) against the base rate; null without any, or when that rate is unknown'),
};

const TOTAL = COUNT.describe('All forecasts, whatever their outcome');

export const REGIME_ROW = z.object({
  regime: REGIME.nullable().describe('Market regime at signal time; null for missed days'),
  total: TOTAL,
  ...SHARE,
});

export const MODEL_VERSION_ROW = z.object({
  modelVersion: z.string().nullable().describe('Model version: the method and the first day of its block; null for missed days'),
  total: TOTAL,
  ...SHARE,
});

const HORIZON_ROW = z.object({
  horizon: HORIZON.describe('Length of the outcome window in days'),
  total: TOTAL,
  ...SHARE,
  holds: COUNT.describe('Resolved forecasts that abstained; not scored'),
  voids: COUNT.describe('Missed or committed too late; not scored'),
  missed: COUNT.describe('Voids without a forecast'),
  pending: COUNT.describe('Not resolved yet'),
  verdict: z.string().describe('Verdict as a sentence'),
});

const MARKET_SKILL = z.object({
  venue: z.string().describe('Venue of the prices'),
  quotesAreOurs: z.boolean().describe('True when the service makes the quotes itself: skill against them proves nothing'),
  throughDate: DATE.describe('Last counted day: all forecasts up to it are public'),
  skill: z
    .object({
      weeks: COUNT.describe('Settled weeks, one strike each, the nearest to the money; they do not overlap'),
      oracleBrier: z.number().min(0).max(1).describe("Mean squared error of the oracle's probability, lower is better"),
      marketBrier: z.number().min(0).max(1).describe("The same for the market's mid price"),
      value: DIFFERENCE.value.describe('Brier skill, 1 - oracle / market; above zero the oracle is better'),
      low: DIFFERENCE.low.describe(
        "Lower bound of the 95 % interval: Student's t of the weekly differences over `marketBrier`, as in the weekly comparison; null for a single week",
      ),
      high: DIFFERENCE.high,
    })
    .nullable()
    .describe('Null before the first settled week'),
  note: z.string().describe('Scope and limits of the comparison'),
});

export const BREAKDOWNS = {
  byHorizon: z.array(HORIZON_ROW).describe('Summary of each of the four horizons'),
  byRegime: z.array(REGIME_ROW).describe('Forecasts of the horizon by market regime, most frequent first'),
  byModelVersion: z.array(MODEL_VERSION_ROW).describe('Forecasts of the horizon by model version, newest first'),
  marketSkill: MARKET_SKILL.describe('Oracle against prediction market on the same question and time; the same for all horizons'),
};

export const RECORD_DETAILS = {
  statistics: RECORD_STATISTICS.describe('Resolved forecasts of the horizon with error bars; the same for every caller'),
  ...BREAKDOWNS,
};
