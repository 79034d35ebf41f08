import { z } from 'zod';
import { CANARIES } from '../../../forecast/backtest/canaries/canary.ts';
import { RECENT_RETURN_DAYS } from '../../../forecast/backtest/out-of-sample.ts';
import { TAIL_LEVELS } from '../../../forecast/backtest/walk-forward/quantile-skill.ts';
import { formatHorizonName, HORIZONS } from '../../../forecast/model.ts';
import { MODEL_NAMES } from '../../../forecast/models/registry.ts';
import { COUNT, DATE, PROBABILITY } from '../../../platform/validation/fields.ts';
import { CALL_STATISTICS, DIFFERENCE, RECORD_STATISTICS } from '../../schemas/statistics.ts';
import { VERSIONS } from './versions.ts';

/** Score of a probability or a distribution; lower is better. */
const SCORE = z.number().min(0);

const FOLD = z.object({
  fold: z.int().min(1).describe('Fold number, from 1'),
  modelVersion: z.string().describe('Model fitted before the fold, which forecast all of its days'),
  trainFrom: DATE.describe('First training day'),
  trainTo: DATE.describe('Last training day; its outcome was known an embargo before the fold'),
  from: DATE.describe('First forecast day'),
  to: DATE.describe('Last forecast day'),
  n: COUNT.describe('Days forecast'),
  base: PROBABILITY.describe('Share of days followed by a rise: the accuracy of always saying UP'),
  accuracy: PROBABILITY.describe('Share of days on which the likelier direction came true, HOLD included'),
  calls: COUNT.describe('Days with BUY or SELL'),
  hits: COUNT.describe('Calls that came true'),
  brier: SCORE.max(1).describe('Brier score of P(up), lower is better'),
  climatologyBrier: SCORE.max(1).describe('The same for the base rate of the training days'),
  logScore: SCORE.describe('Mean log loss of P(up), natural logarithm, lower is better'),
  crps: SCORE.describe('Mean continuous ranked probability score in log-return units, lower is better'),
  climatologyCrps: SCORE.describe('The same for the empirical returns of all training days'),
  recentCrps: SCORE.describe(`The same for those of the last ${RECENT_RETURN_DAYS} training days: the harder reference`),
  coverage80: PROBABILITY.describe('Share of outcomes within the central 80 % of the distribution'),
});

const SKILL_AGAINST = {
  ...DIFFERENCE,
  value: z.number().describe('1 - ours / theirs; positive is better'),
  ours: SCORE.describe('Mean score of the distributions in log-return units, lower is better'),
  theirs: SCORE.describe('The same for the empirical returns of the reference'),
};

const PROOF = z.object({
  points: z.number().describe('Percentage points of accuracy above the reference without the model'),
  years: SCORE.nullable().describe('Years of daily calls that prove it with 80 % power, two-sided test at 5 %; null when unknown'),
});

const WORTH = z.object({
  independentPerYear: SCORE.nullable().describe(
    'Independent observations per year of daily calls, at most one a day, estimated from the variance of accuracy between runs of three consecutive windows; null below 30 such runs',
  ),
  independentPerYear95: z
    .object({ low: SCORE.describe('Lower bound'), high: SCORE.describe('Upper bound') })
    .nullable()
    .describe('95 % interval of that estimate; null when it is null'),
  independentPerYearByOverlap: SCORE.describe('The same from the overlap of the windows alone'),
  proof: z.array(PROOF).describe('Duration of an edge until it is proven'),
});

const POOLED = z.object({
  n: COUNT.describe('Forecast days of all folds'),
  signals: z
    .object({
      buy: COUNT.describe('Days with BUY'),
      sell: COUNT.describe('Days with SELL'),
      hold: COUNT.describe('Days with HOLD'),
    })
    .describe('Counts of signals'),
  directions: z
    .object({
      up: COUNT.describe('Days with P(up) of at least one half'),
      down: COUNT.describe('Other days'),
    })
    .describe('Likelier direction, HOLD included'),
  statistics: RECORD_STATISTICS.describe('Forecasts as issued: HOLD is not a call'),
  direction: CALL_STATISTICS.describe('Likelier direction of every day, HOLD included'),
  advantage: z
    .literal([-1, 0, 1])
    .describe(
      'Whether that direction is better than always saying UP (1), worse (-1), or indistinguishable (0), by an exact test of the DOWN days on non-overlapping windows, confirmed by the interval of the difference',
    ),
  crpsSkill: z.object(SKILL_AGAINST).describe('CRPS against the returns of all training days'),
  recentCrpsSkill: z
    .object(SKILL_AGAINST)
    .describe(
      `CRPS against the returns of the last ${RECENT_RETURN_DAYS} training days, which give the distributions their shape: the harder reference`,
    ),
  garchCrpsSkill: z.object(SKILL_AGAINST).describe('CRPS against GARCH(1,1) with Student t innovations, refitted for each fold'),
  coverage80: z.object(DIFFERENCE).describe('Coverage of the central 80 % interval, with its block-bootstrap interval'),
  quantileSkills: z
    .array(z.object({ level: PROBABILITY.describe('Nominal share below the quantile'), ...SKILL_AGAINST }))
    .describe(
      `Pinball loss of the quantiles at ${TAIL_LEVELS.join(' and ')} against the same quantiles of the returns of all training days`,
    ),
  worth: WORTH.describe('Evidence of a year of daily calls'),
});

const HORIZON = z.object({
  horizonDays: z.literal(HORIZONS).describe('Days ahead'),
  horizon: z.enum(HORIZONS.map(formatHorizonName)).describe('The same as a name'),
  purgeDays: COUNT.describe('Purged days before the embargo, whose outcomes are not known in time: the length of the window'),
  folds: z.array(FOLD).describe('Complete folds, oldest first'),
  pooled: POOLED.nullable().describe('All folds pooled, with error bars; null without a complete fold'),
  verdict: z.string().describe('Verdict as a sentence'),
});

const CANARY = z.object({
  name: z.enum(CANARIES).describe('Which canary'),
  versions: z.array(z.enum(MODEL_NAMES)).describe('Model versions that it ran for'),
  what: z.string().describe('What it does, and the expected result'),
  unit: z.string().describe('Unit of the figures'),
  figure: SCORE.nullable().describe('Result; null when it could not run'),
  limit: SCORE.nullable().describe('Maximum of the figure; null when it could not run'),
  passed: z.boolean().nullable().describe('False when the figure exceeds the limit, which suggests a leak; null when it could not run'),
  note: z.string().describe('Origin of the figure, or why it could not run'),
  mutants: z
    .array(
      z.object({
        what: z.string().describe('Defect'),
        figure: SCORE.describe('Result of the same run with the defect'),
        caught: z.boolean().describe('True when the figure exceeds the limit, as it must'),
      }),
    )
    .describe('Deliberately broken pipelines, which show that the canary can fail'),
});

export const WALK_FORWARD = z.object({
  model: z.string().describe('Method name'),
  firstDay: DATE.describe('First day of the history'),
  lastDay: DATE.describe('Last day of the history'),
  trainingStart: DATE.describe('First training day'),
  minTrainingDays: COUNT.describe('Minimum number of training days'),
  foldDays: COUNT.describe('Days per fold, unseen by the model that forecasts them'),
  embargoDays: COUNT.describe('Days between the last price known to a model and the first day of its fold'),
  bootstrap: z
    .object({
      blockDays: COUNT.describe('Days per block'),
      resamples: COUNT.describe('Number of resamples'),
      seed: COUNT.describe('Seed of the resampling, which makes it reproducible'),
    })
    .describe('The circular block bootstrap of the intervals of skills and differences'),
  folds: COUNT.describe('Folds complete at every horizon; later ones are added as they end'),
  expectedFolds: COUNT.describe('Folds of the whole history'),
  note: z.string().nullable().describe('Why there are fewer folds; null otherwise'),
  healthy: z.boolean().describe('False when a canary finds a leak or misses a planted one: no figure here can be trusted then'),
  verdict: z.string().describe('Verdict of the canaries as a sentence'),
  horizons: z.array(HORIZON).describe('Walk-forward of each horizon, shortest first'),
  versions: VERSIONS.describe('Distributions of every model version, which share P(up), the first of which the others are compared with'),
  canaries: z.array(CANARY).describe('Tests that fail when future data leaks'),
});
