import { z } from 'zod';
import { WEEKDAYS } from '../../forecast/statistics/distribution-statistics.ts';
import { COUNT, PROBABILITY } from '../../platform/validation/fields.ts';
import { INTERVAL } from './forecast.ts';

const WORTH = z.number().min(0).describe('Effective sample size: overlapping windows share their returns');

const HITS = {
  n: COUNT.describe('Calls: resolved forecasts other than HOLD'),
  hits: COUNT.describe('Calls whose direction came true'),
  accuracy: PROBABILITY.nullable().describe('hits / n; null without any'),
};

export const DIFFERENCE = {
  value: z.number().describe('Estimate'),
  low: z
    .number()
    .nullable()
    .describe('Lower bound of the 95 % block-bootstrap interval; null with too few blocks of days, or too many undefined resamples'),
  high: z.number().nullable().describe('Upper bound'),
};

export const CALL_STATISTICS = z.object({
  ...HITS,
  effectiveN: WORTH,
  wilson95: INTERVAL.nullable().describe(
    '95 % Wilson interval of the accuracy on `effectiveN` trials, the headline interval: the same as `accuracyInterval95`; null without calls',
  ),
  bootstrap95: INTERVAL.nullable().describe(
    "Second 95 % interval of the accuracy, for comparison: circular block bootstrap over days, in blocks of 14 (30 from 300 days on), widened for few blocks by Student's t. It also allows for market regimes that last for weeks; null when the calls fill fewer than five blocks",
  ),
  offsets: z
    .array(z.object({ offsetDays: COUNT.describe('Days after the first call of the record'), ...HITS }))
    .describe('All selections of non-overlapping windows: each h-th day, from each of h offsets'),
  selection: z
    .object({
      called: PROBABILITY.describe('Share of rises on the days called UP'),
      all: PROBABILITY.describe('Share of rises on all resolved days'),
      held: PROBABILITY.nullable().describe('Share of rises on HOLD days; null without any'),
      overAll: z.object(DIFFERENCE).describe('`called` minus `all`'),
      overHeld: z.object(DIFFERENCE).nullable().describe('`called` minus `held`; null without HOLD'),
    })
    .nullable()
    .describe('Choice of the days called UP, which is all that a record of UP calls can show; null without any, or where every day was'),
  alwaysUp: z
    .object({
      accuracy: PROBABILITY.describe('Accuracy of always saying UP on the same days'),
      difference: z.object(DIFFERENCE).describe('Accuracy minus that, in daily pairs'),
    })
    .nullable()
    .describe('Against always saying UP; null without calls'),
});

const SKILL = z.object({
  brier: z.number().min(0).describe('Brier score of the reference'),
  ...DIFFERENCE,
});

const RELIABILITY_ROW = z.object({
  from: PROBABILITY.describe('Lower bound, inclusive'),
  to: PROBABILITY.describe('Upper bound, exclusive unless it is 1'),
  n: COUNT.describe('Forecasts in the bin'),
  effectiveN: WORTH,
  meanProbability: PROBABILITY.describe('Mean forecast probability'),
  observedShare: PROBABILITY.describe('Observed share of rises'),
  interval95: INTERVAL.describe('95 % Wilson interval of that share on `effectiveN` trials'),
});

const PROBABILITY_STATISTICS = z.object({
  n: COUNT.describe('Resolved forecasts, HOLD included'),
  effectiveN: WORTH,
  brier: z.number().min(0).max(1).describe('Brier score of P(up), lower is better; a constant one half scores 0.25'),
  logScore: z.number().min(0).describe('Mean log loss, natural logarithm, lower is better; a constant one half scores 0.6931'),
  climatologySkill: SKILL.nullable().describe(
    'Brier skill against the base rate known at the time, 1 - score / reference; positive is better. Null when that rate is unknown',
  ),
  alwaysUpSkill: SKILL.nullable().describe(
    'Brier skill against certainty of a rise, which any hedged probability beats: a positive value implies no skill in direction, unlike `calls.alwaysUp`. Null while that was never wrong',
  ),
  murphy: z
    .object({
      brier: z.number().min(0).max(1).describe('reliability - resolution + uncertainty + withinBins'),
      reliability: z.number().min(0).describe('Distance of probabilities from outcomes; lower is better'),
      resolution: z.number().min(0).describe('Variation of outcomes between bins; higher is better'),
      uncertainty: z.number().min(0).describe('Variance of the outcomes, independent of the forecasts'),
      withinBins: z.number().describe('Remainder from unequal probabilities within bins'),
    })
    .describe('Decomposition of the Brier score (Murphy 1973, Stephenson et al. 2008)'),
  reliability: z.array(RELIABILITY_ROW).describe('Forecast probability against observed share, in bins of five points; empty bins omitted'),
});

const COVERED = {
  observed: PROBABILITY.describe('Observed share'),
  interval95: INTERVAL.describe(
    '95 % interval of it by the circular block bootstrap over days; of outcomes in fewer than five blocks, Wilson on their effective number',
  ),
};

const CENTRAL_COVERAGE = z.array(z.object({ nominal: PROBABILITY.describe('Nominal share of the central interval'), ...COVERED }));

const DISTRIBUTION_STATISTICS = z.object({
  n: COUNT.describe('Resolved forecasts whose distribution is known'),
  effectiveN: WORTH,
  crps: z.number().min(0).describe('Mean continuous ranked probability score in log-return units, lower is better'),
  coverage: CENTRAL_COVERAGE.describe('Coverage of the central intervals'),
  quantiles: z
    .array(z.object({ level: PROBABILITY.describe('Nominal share below the quantile'), ...COVERED }))
    .describe('Calibration of the quantiles'),
  weekdays: z
    .array(
      z.object({
        weekday: z.enum(WEEKDAYS).describe('First day of the outcome window, UTC'),
        n: COUNT.describe('Resolved forecasts whose window opens on it'),
        coverage: CENTRAL_COVERAGE.describe('Coverage of the central intervals of these'),
      }),
    )
    .describe('The same by weekday, Monday first; weekdays without an outcome omitted'),
});

export const RECORD_STATISTICS = z.object({
  calls: CALL_STATISTICS.describe('Accuracy of the calls and its evidence'),
  probabilities: PROBABILITY_STATISTICS.nullable().describe('Quality of the probabilities; null before the first outcome'),
  distribution: DISTRIBUTION_STATISTICS.nullable().describe('Quality of the predictive distributions; null when none is known'),
});

export const BRIER = z.object({
  n: COUNT.describe('Resolved forecasts, HOLD included'),
  model: z.number().min(0).max(1).describe('Mean squared error of P(UP), 0 to 1; lower is better'),
  climatology: z.number().min(0).max(1).describe('The same for the base rate known at the time'),
});
