import { z } from 'zod';
import { COUNT, DATE, PROBABILITY } from '../../platform/validation/fields.ts';
import { BRIER } from './brier.ts';
import { HORIZON, INTERVAL, REGIME } from './forecast.ts';
import { DIFFERENCE, RECORD_STATISTICS } from './statistics.ts';

export const SHARE = {
  resolved: COUNT.describe('Scored forecasts among them: wins and losses'),
  wins: COUNT.describe('Scored forecasts whose direction came true'),
  accuracy: PROBABILITY.nullable().describe('Wins over resolved, 0 to 1; null without any'),
  effectiveN: z
    .number()
    .min(0)
    .describe('How many independent calls the scored ones are worth by the overlap of their windows, all of them used'),
  dedupedTotal: COUNT.describe('Scored forecasts left when overlapping windows are dropped'),
  accuracyInterval95: INTERVAL.nullable().describe(
    '95 % Wilson interval of the accuracy on `effectiveN` trials, the one that is told first everywhere; null without any',
  ),
  brier: BRIER.nullable().describe('Probabilities of UP against the base rate; null without any, or where that rate is not known'),
};

const TOTAL = COUNT.describe('All forecasts of it, whatever became of them');

export const REGIME_ROW = z.object({
  regime: REGIME.nullable().describe('Market regime when they were made; null for days on which nothing was forecast'),
  total: TOTAL,
  ...SHARE,
});

export const MODEL_VERSION_ROW = z.object({
  modelVersion: z
    .string()
    .nullable()
    .describe('Version of the model that made them: the method and the first day of its block; null where nothing was forecast'),
  total: TOTAL,
  ...SHARE,
});

const HORIZON_ROW = z.object({
  horizon: HORIZON.describe('Days from the opening of the outcome window to its end'),
  total: TOTAL,
  ...SHARE,
  holds: COUNT.describe('Resolved forecasts that abstained: shown, never scored'),
  voids: COUNT.describe('Missed or committed too late: shown, never scored'),
  missed: COUNT.describe('Those of the voids on which nothing was forecast'),
  pending: COUNT.describe('Not resolved yet'),
  verdict: z.string().describe('What they amount to, in words'),
});

const MARKET_SKILL = z.object({
  venue: z.string().describe('Whose prices they are'),
  quotesAreOurs: z.boolean().describe('True when the service makes the quotes itself: skill against them proves nothing'),
  throughDate: DATE.describe('Last day whose strike counts: the forecasts of all horizons up to it are told'),
  skill: z
    .object({
      weeks: COUNT.describe('Settled weeks, one strike each, the closest to the money; they do not overlap'),
      oracleBrier: z.number().min(0).max(1).describe("Mean squared error of the oracle's probability of the strike, lower is better"),
      marketBrier: z.number().min(0).max(1).describe("The same of the market's price, the middle of bid and ask"),
      value: DIFFERENCE.value.describe('Brier skill, 1 - oracle / market; above zero the oracle is better'),
      low: DIFFERENCE.low.describe(
        "Lower bound of its 95 % interval: Student's t of the differences a week, as the weekly comparison has it, over `marketBrier`; null for a single week",
      ),
      high: DIFFERENCE.high,
    })
    .nullable()
    .describe('Null before the first settled week'),
  note: z.string().describe('What the comparison is about, and what it is not'),
});

export const BREAKDOWNS = {
  byHorizon: z.array(HORIZON_ROW).describe('The whole records of all four horizons in short'),
  byRegime: z.array(REGIME_ROW).describe('Forecasts of the horizon by market regime, the most frequent first'),
  byModelVersion: z.array(MODEL_VERSION_ROW).describe('The same by the model that made them, the newest first'),
  marketSkill: MARKET_SKILL.describe(
    'The oracle against a prediction market on the same question at the same time; the same for all horizons',
  ),
};

export const RECORD_DETAILS = {
  statistics: RECORD_STATISTICS.describe(
    'The resolved forecasts of the horizon with error bars: the same for every caller, and nothing of what is unresolved is in it',
  ),
  ...BREAKDOWNS,
};
