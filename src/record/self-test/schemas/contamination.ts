import { z } from 'zod';
import { VINTAGES } from '../../../forecast/backtest/contamination/vintages.ts';
import { RECENT_RETURN_DAYS } from '../../../forecast/backtest/out-of-sample.ts';
import { FEATURE_NAMES } from '../../../forecast/features/feature-table.ts';
import { BUSINESS_DAY_COLUMNS, DAILY_COLUMNS } from '../../../forecast/input-frame.ts';
import { COUNT, DATE, PROBABILITY } from '../../../platform/validation/fields.ts';
import { INTERVAL, REGIME } from '../../schemas/forecast.ts';
import { DIFFERENCE } from '../../schemas/statistics.ts';
import { FOLD_COUNT, HORIZON_DAYS } from './fold-count.ts';

const ESTIMATE = z.object(DIFFERENCE).nullable();
const FEATURE = z.enum(FEATURE_NAMES);

const FIGURES = {
  n: COUNT.describe('Days forecast, HOLD included'),
  effectiveN: z.number().min(0).describe('How many independent days these are worth: windows that overlap share their returns'),
  accuracy: PROBABILITY.nullable().describe('Share of days on which the likelier direction came true; null without days'),
  accuracy95: INTERVAL.nullable().describe('95 % Wilson interval of it on `effectiveN` days; null without days'),
  alwaysUp: PROBABILITY.nullable().describe('What always saying UP would have scored; null without days'),
  downs: COUNT.describe('Days on which DOWN was the likelier direction; without any the calls are those of always saying UP'),
  edge: ESTIMATE.describe('Accuracy minus that, 0.01 is one percentage point; null without days'),
  brierSkill: ESTIMATE.describe('1 - Brier score / that of the base rate known at the time; null without days'),
  crpsSkill: ESTIMATE.describe('1 - CRPS / that of the returns of all training days; null without days'),
  recentCrpsSkill: ESTIMATE.describe(`1 - CRPS / that of the returns of the last ${RECENT_RETURN_DAYS} training days; null without days`),
};

const ERA = z.object({
  from: DATE.nullable().describe('First day forecast in it; null without any'),
  to: DATE.nullable().describe('Last day forecast in it; null without any'),
  ...FIGURES,
});

const HORIZON = z.object({
  horizonDays: HORIZON_DAYS,
  folds: COUNT.describe('Complete folds of this horizon'),
  preEtf: ERA.describe('Days before the first trading day of the funds'),
  postEtf: ERA.describe('Days from then on'),
  difference: z
    .object({
      accuracy: ESTIMATE.describe('Of the accuracy; null where an era has no day'),
      edge: ESTIMATE.describe('Of what it is better than always saying UP; null where an era has no day'),
      brierSkill: ESTIMATE.describe('Of the Brier skill; null where an era has no day'),
      crpsSkill: ESTIMATE.describe('Of the CRPS skill; null where an era has no day'),
      recentCrpsSkill: ESTIMATE.describe('Of the CRPS skill against recent returns; null where an era has no day'),
    })
    .describe('The later era minus the earlier one'),
  regimes: z.array(z.object({ regime: REGIME.describe('Market regime of the day'), ...FIGURES })).describe('The same by regime, all seven'),
});

const SUSPICION = z.object({
  horizonDays: HORIZON_DAYS,
  where: z.string().describe('Era or regime'),
  why: z.string().describe('What is too good there'),
});

const FEATURE_DIFFERENCE = z.object({
  day: DATE.describe('The day audited'),
  feature: FEATURE.describe('What differs'),
  known: z.number().nullable().describe('From what was known on the day; null where it was masked'),
  computed: z.number().nullable().describe('From the whole history; null where it is masked'),
});

const LAG_MUTANT = z.object({
  input: z.enum([...DAILY_COLUMNS, ...BUSINESS_DAY_COLUMNS]).describe('The input that is read a day too early'),
  what: z.string().describe('What the broken pipeline does'),
  applicable: z.boolean().describe('Whether that makes any difference in this history, from the first day audited to the last'),
  caught: z.boolean().describe('Whether the audit found it'),
  features: z.array(FEATURE).describe('Features that gave it away'),
  days: COUNT.describe('Audited days on which they did'),
  reason: z.string().nullable().describe('Why it does not apply; null where it does'),
});

export const CONTAMINATION = z.object({
  ...FOLD_COUNT,
  healthy: z
    .boolean()
    .describe('False as soon as a feature differs from what was known at the time, or a pipeline broken on purpose is not noticed'),
  verdict: z.string().describe('What was found, in words'),
  splitDay: DATE.describe('First day of the later era: first trading day of spot bitcoin funds in the United States'),
  horizons: z.array(HORIZON).describe('The folds by era and by regime, of each horizon; intervals are 95 %, by the block bootstrap'),
  suspicions: z
    .array(SUSPICION)
    .describe(
      'An era whose skill is better than that of the other by an interval that excludes zero, and eras or regimes right on more than 60 % of the days and more often than always-UP',
    ),
  pointInTime: z
    .object({
      days: z.array(DATE).describe('Days whose features were computed again from what was known at 21:35 UTC, with the close as price'),
      vintages: z
        .enum(VINTAGES)
        .describe(
          'Where that comes from: collected, kept as first seen since the service began; made, a market that is made up and never revised; none, the same data as the whole history, in which revisions made before they were collected cannot show',
        ),
      differences: z
        .array(FEATURE_DIFFERENCE)
        .describe('Features that are not what they were: an input was revised, or something looks ahead'),
    })
    .describe('Features of the whole history against what was known at the time'),
  lagMutants: z.array(LAG_MUTANT).describe('The same audit of pipelines that read one input a day too early: each must be caught'),
});
