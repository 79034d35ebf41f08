import { z } from 'zod';
import { CANARIES } from '../../../forecast/backtest/canaries/canary.ts';
import { RECENT_RETURN_DAYS } from '../../../forecast/backtest/out-of-sample.ts';
import { TAIL_LEVELS } from '../../../forecast/backtest/walk-forward/quantile-skill.ts';
import { formatHorizonName, HORIZONS } from '../../../forecast/model.ts';
import { COUNT, DATE, PROBABILITY } from '../../../platform/validation/fields.ts';
import { CALL_STATISTICS, DIFFERENCE, RECORD_STATISTICS } from '../../schemas/statistics.ts';

/** Score of a probability or a distribution; lower is better. */
const SCORE = z.number().min(0);

const FOLD = z.object({
  fold: z.int().min(1).describe('Number of the fold, from 1'),
  modelVersion: z.string().describe('The model that was fitted before it and forecast all of its days'),
  trainFrom: DATE.describe('First day which that model learned from'),
  trainTo: DATE.describe('Last day which that model learned from; its outcome was known an embargo before the fold'),
  from: DATE.describe('First day that was forecast'),
  to: DATE.describe('Last day that was forecast'),
  n: COUNT.describe('Days forecast'),
  base: PROBABILITY.describe('Share of these days that were followed by a rise: what always saying UP scores'),
  accuracy: PROBABILITY.describe('Share of days on which the likelier direction came true, HOLD included'),
  calls: COUNT.describe('Days with BUY or SELL'),
  hits: COUNT.describe('Calls that came true'),
  brier: SCORE.max(1).describe('Mean squared error of P(up), lower is better'),
  climatologyBrier: SCORE.max(1).describe('The same of the base rate of the training days'),
  logScore: SCORE.describe('Mean log loss of P(up), natural logarithm, lower is better'),
  crps: SCORE.describe('Mean continuous ranked probability score of the distribution in log-return units, lower is better'),
  climatologyCrps: SCORE.describe('The same of the returns of all training days as they were'),
  recentCrps: SCORE.describe(`The same of those of the last ${RECENT_RETURN_DAYS} training days: the harder reference`),
  coverage80: PROBABILITY.describe('Share of outcomes within the central 80 % of the distribution'),
});

const SKILL_AGAINST = {
  ...DIFFERENCE,
  value: z.number().describe('1 - ours / theirs; above zero ours is better'),
  ours: SCORE.describe('Mean score of the distributions in log-return units, lower is better'),
  theirs: SCORE.describe('The same of the returns of the reference as they were'),
};

const PROOF = z.object({
  points: z.number().describe('Percentage points of accuracy above what is known without the model'),
  years: SCORE.nullable().describe(
    'Years of daily calls that prove it with a power of 80 %, by a two-sided test at 5 %; null where not known',
  ),
});

const WORTH = z.object({
  independentPerYear: SCORE.nullable().describe(
    'Independent observations a year that a call a day is worth, at most one a day, estimated from how much the share of days right varies between runs of three windows on end; null below 30 such runs',
  ),
  independentPerYear95: z
    .object({ low: SCORE.describe('Lower bound'), high: SCORE.describe('Upper bound') })
    .nullable()
    .describe('95 % interval of it, as that variation is itself an estimate; null where it is'),
  independentPerYearByOverlap: SCORE.describe('The same as the overlap of the windows alone would have it'),
  proof: z.array(PROOF).describe('How long an advantage would have to last to be proven'),
});

const POOLED = z.object({
  n: COUNT.describe('Days forecast, of all folds together'),
  signals: z
    .object({
      buy: COUNT.describe('Days with BUY'),
      sell: COUNT.describe('Days with SELL'),
      hold: COUNT.describe('Days with HOLD'),
    })
    .describe('How the days were called'),
  directions: z
    .object({
      up: COUNT.describe('Days on which UP was at least as likely as not'),
      down: COUNT.describe('The other days'),
    })
    .describe('Which direction was the likelier one, HOLD included'),
  statistics: RECORD_STATISTICS.describe('Of the forecasts as they were called: HOLD is no call'),
  direction: CALL_STATISTICS.describe('Of the likelier direction of every day: HOLD is called too'),
  advantage: z
    .literal([-1, 0, 1])
    .describe(
      'Whether that direction is better than always saying UP (1), worse (-1), or cannot be told apart (0), by an exact test of the DOWN days whose windows do not overlap, with which the interval of the difference must agree',
    ),
  crpsSkill: z.object(SKILL_AGAINST).describe('CRPS of the distributions against that of the returns of all training days'),
  recentCrpsSkill: z
    .object(SKILL_AGAINST)
    .describe(
      `CRPS of the distributions against that of the returns of the last ${RECENT_RETURN_DAYS} training days, which they have their shape from: the harder reference`,
    ),
  coverage80: z
    .object(DIFFERENCE)
    .describe('Share of outcomes within the central 80 % of the distribution, with its interval by the block bootstrap'),
  quantileSkills: z
    .array(z.object({ level: PROBABILITY.describe('Share that should lie below the quantile'), ...SKILL_AGAINST }))
    .describe(
      `Pinball loss of the quantiles at ${TAIL_LEVELS.join(' and ')} against that of the same quantiles of the returns of all training days`,
    ),
  worth: WORTH.describe('How much evidence a year of daily calls is'),
});

const HORIZON = z.object({
  horizonDays: z.literal(HORIZONS).describe('Days ahead'),
  horizon: z.enum(HORIZONS.map(formatHorizonName)).describe('The same as a name'),
  purgeDays: COUNT.describe(
    'Days before the embargo that are not learned from, as their outcomes are not known in time: as long as the window',
  ),
  folds: z.array(FOLD).describe('Every complete fold, the oldest first'),
  pooled: POOLED.nullable().describe('All folds together, with error bars; null without a complete one'),
  verdict: z.string().describe('What the folds amount to, in words'),
});

const CANARY = z.object({
  name: z.enum(CANARIES).describe('Which canary'),
  what: z.string().describe('What it does, and what must come of it'),
  unit: z.string().describe('What the figures are'),
  figure: SCORE.nullable().describe('What came of it; null where it could not be run'),
  limit: SCORE.nullable().describe('The most that the figure may be; null where it could not be run'),
  passed: z.boolean().nullable().describe('False where the figure is above the limit: a leak is suspected; null where it could not be run'),
  note: z.string().describe('Where the figure comes from, or why it could not be run'),
  mutants: z
    .array(
      z.object({
        what: z.string().describe('How it is broken'),
        figure: SCORE.describe('What came of the same run against it'),
        caught: z.boolean().describe('True when the figure is above the limit, as it must be'),
      }),
    )
    .describe('Pipelines that are broken on purpose, to show that the canary can fail'),
});

export const WALK_FORWARD = z.object({
  model: z.string().describe('Name of the method'),
  firstDay: DATE.describe('First day of the history'),
  lastDay: DATE.describe('Last day of the history'),
  trainingStart: DATE.describe('First day that is learned from'),
  minTrainingDays: COUNT.describe('The fewest days that a model learns from'),
  foldDays: COUNT.describe('Days of a fold, none of which the model that forecasts them has seen'),
  embargoDays: COUNT.describe('Days between the last price that a model may know and the first day of its fold'),
  bootstrap: z
    .object({
      blockDays: COUNT.describe('Days of a block'),
      resamples: COUNT.describe('How often it is drawn anew'),
      seed: COUNT.describe('Seed of the drawing: who repeats it finds the same'),
    })
    .describe('The circular block bootstrap that the intervals of skills and differences come from'),
  folds: COUNT.describe('Folds that are complete at every horizon; later ones are added as they end'),
  expectedFolds: COUNT.describe('Folds that the whole history gives'),
  note: z.string().nullable().describe('How many there are and why, where there are fewer; null where there are not'),
  healthy: z
    .boolean()
    .describe('False as soon as a canary finds a leak, or misses one that was planted: then no figure here can be trusted'),
  verdict: z.string().describe('What the canaries amount to, in words'),
  horizons: z.array(HORIZON).describe('The walk-forward of each horizon, the shortest first'),
  canaries: z.array(CANARY).describe('Tests that a leak of the future would fail'),
});
