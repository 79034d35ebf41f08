import { z } from 'zod';
import { COUNT, PROBABILITY } from '../../platform/validation/fields.ts';
import { INTERVAL } from './forecast.ts';

const WORTH = z.number().min(0).describe('How many independent outcomes they are worth: windows that overlap share their returns');

const HITS = {
  n: COUNT.describe('Calls: forecasts that did not abstain and are resolved'),
  hits: COUNT.describe('Calls whose direction came true'),
  accuracy: PROBABILITY.nullable().describe('hits / n; null without any'),
};

export const DIFFERENCE = {
  value: z.number().describe('The figure itself'),
  low: z
    .number()
    .nullable()
    .describe(
      'Lower bound of its 95 % interval by the block bootstrap, widened for few blocks; null where the days that make a difference fill fewer than five blocks, or it is undefined in too many resamples',
    ),
  high: z.number().nullable().describe('Upper bound of it'),
};

export const CALL_STATISTICS = z.object({
  ...HITS,
  effectiveN: WORTH,
  wilson95: INTERVAL.nullable().describe(
    '95 % Wilson interval of the accuracy on `effectiveN` trials, the one that is told first everywhere: the same as `accuracyInterval95`; null without calls',
  ),
  bootstrap95: INTERVAL.nullable().describe(
    "A second 95 % interval of the same share, to hold the first against: by the circular block bootstrap over days, in blocks of 14 (from 300 days on 30), widened for few blocks by Student's t. It also allows for moods of the market that last for weeks; null where the calls fill fewer than five blocks",
  ),
  offsets: z
    .array(z.object({ offsetDays: COUNT.describe('Days after the first call of the record'), ...HITS }))
    .describe('Every way to keep only windows that do not overlap: each h-th day, from each of h beginnings'),
  alwaysUp: z
    .object({
      accuracy: PROBABILITY.describe('What always saying UP would have scored on the same days'),
      difference: z.object(DIFFERENCE).describe('Accuracy minus that, day by day in pairs'),
    })
    .nullable()
    .describe('Against always saying UP; null without calls'),
});

const SKILL = z.object({
  brier: z.number().min(0).describe('Mean squared error of the reference'),
  ...DIFFERENCE,
});

const RELIABILITY_ROW = z.object({
  from: PROBABILITY.describe('Lower bound, included'),
  to: PROBABILITY.describe('Upper bound, left out unless it is 1'),
  n: COUNT.describe('Forecasts in it'),
  effectiveN: WORTH,
  meanProbability: PROBABILITY.describe('What was said, on average'),
  observedShare: PROBABILITY.describe('How often it rose'),
  interval95: INTERVAL.describe('95 % Wilson interval of that share on `effectiveN` trials'),
});

const PROBABILITY_STATISTICS = z.object({
  n: COUNT.describe('Resolved forecasts, HOLD included'),
  effectiveN: WORTH,
  brier: z.number().min(0).max(1).describe('Mean squared error of P(up), lower is better; saying one half always scores 0.25'),
  logScore: z.number().min(0).describe('Mean log loss, natural logarithm, lower is better; saying one half always scores 0.6931'),
  climatologySkill: SKILL.nullable().describe(
    'Brier skill, 1 - score / score of the reference, against the base rate known at the time; above zero the model is better. Null where that rate is not known',
  ),
  alwaysUpSkill: SKILL.nullable().describe(
    'The same against the certainty that it rises, which any hedged probability beats: above zero it says nothing of the direction; `calls.alwaysUp` does. Null as long as that was never wrong',
  ),
  murphy: z
    .object({
      brier: z.number().min(0).max(1).describe('reliability - resolution + uncertainty + withinBins'),
      reliability: z.number().min(0).describe('How far what was said is from what happened; lower is better'),
      resolution: z.number().min(0).describe('How far bins differ in what happened; higher is better'),
      uncertainty: z.number().min(0).describe('Of the outcomes themselves, whatever is said'),
      withinBins: z.number().describe('What bins of unequal probabilities leave over'),
    })
    .describe('Decomposition of the Brier score (Murphy 1973, Stephenson et al. 2008)'),
  reliability: z.array(RELIABILITY_ROW).describe('What was said against what happened, in bins of five points; empty ones left out'),
});

const COVERED = {
  observed: PROBABILITY.describe('How often that was so'),
  interval95: INTERVAL.describe('95 % Wilson interval of it on `effectiveN` trials'),
};

const DISTRIBUTION_STATISTICS = z.object({
  n: COUNT.describe('Resolved forecasts whose distribution is known'),
  effectiveN: WORTH,
  crps: z.number().min(0).describe('Mean continuous ranked probability score in log-return units, lower is better'),
  coverage: z
    .array(z.object({ nominal: PROBABILITY.describe('Share that the central interval should hold'), ...COVERED }))
    .describe('Whether central intervals hold what they should'),
  quantiles: z
    .array(z.object({ level: PROBABILITY.describe('Share that should lie below the quantile'), ...COVERED }))
    .describe('Whether quantiles are where they should be'),
});

export const RECORD_STATISTICS = z.object({
  calls: CALL_STATISTICS.describe('How often the calls were right, and what that is worth'),
  probabilities: PROBABILITY_STATISTICS.nullable().describe('How good the probabilities were; null before the first outcome'),
  distribution: DISTRIBUTION_STATISTICS.nullable().describe('How good the predictive distributions were; null where none is known'),
});
