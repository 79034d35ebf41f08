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
  effectiveN: z.number().min(0).describe('Effective sample size: overlapping windows share their returns'),
  accuracy: PROBABILITY.nullable().describe('Share of days on which the likelier direction came true; null without days'),
  accuracy95: INTERVAL.nullable().describe('95 % Wilson interval of it on `effectiveN` days; null without days'),
  alwaysUp: PROBABILITY.nullable().describe('Accuracy of always saying UP; null without days'),
  downs: COUNT.describe('Days on which DOWN was likelier; without any the calls equal always saying UP'),
  edge: ESTIMATE.describe('Accuracy minus that of always saying UP, 0.01 is one percentage point; null without days'),
  brierSkill: ESTIMATE.describe('Brier skill against the base rate known at the time; null without days'),
  crpsSkill: ESTIMATE.describe('CRPS skill against the returns of all training days; null without days'),
  recentCrpsSkill: ESTIMATE.describe(`CRPS skill against the returns of the last ${RECENT_RETURN_DAYS} training days; null without days`),
};

const ERA = z.object({
  from: DATE.nullable().describe('First day forecast in it; null without any'),
  to: DATE.nullable().describe('Last day forecast in it; null without any'),
  ...FIGURES,
});

const HORIZON = z.object({
  horizonDays: HORIZON_DAYS,
  folds: COUNT.describe('Complete folds of this horizon'),
  preEtf: ERA.describe('Days before the first trading day of the ETFs'),
  postEtf: ERA.describe('Days from that day on'),
  difference: z
    .object({
      accuracy: ESTIMATE.describe('Difference in accuracy; null when an era has no day'),
      edge: ESTIMATE.describe('Difference in edge over always saying UP; null when an era has no day'),
      brierSkill: ESTIMATE.describe('Difference in Brier skill; null when an era has no day'),
      crpsSkill: ESTIMATE.describe('Difference in CRPS skill; null when an era has no day'),
      recentCrpsSkill: ESTIMATE.describe('Difference in CRPS skill against recent returns; null when an era has no day'),
    })
    .describe('The later era minus the earlier one'),
  regimes: z
    .array(z.object({ regime: REGIME.describe('Market regime of the day'), ...FIGURES }))
    .describe('The same figures by regime, all seven'),
});

const SUSPICION = z.object({
  horizonDays: HORIZON_DAYS,
  where: z.string().describe('Era or regime'),
  why: z.string().describe('Suspiciously good figure'),
});

const FEATURE_DIFFERENCE = z.object({
  day: DATE.describe('Audited day'),
  feature: FEATURE.describe('What differs'),
  known: z.number().nullable().describe('From data known on that day; null when masked'),
  computed: z.number().nullable().describe('From the whole history; null when masked'),
});

const LAG_MUTANT = z.object({
  input: z.enum([...DAILY_COLUMNS, ...BUSINESS_DAY_COLUMNS]).describe('Input that is read a day too early'),
  what: z.string().describe('Defect of the pipeline'),
  applicable: z.boolean().describe('Whether the defect changes any value between the first and the last audited day'),
  caught: z.boolean().describe('Whether the audit detected it'),
  features: z.array(FEATURE).describe('Features that differed'),
  days: COUNT.describe('Audited days with a difference'),
  reason: z.string().nullable().describe('Why it does not apply; null when it does'),
});

export const CONTAMINATION = z.object({
  ...FOLD_COUNT,
  healthy: z
    .boolean()
    .describe('False when a feature differs from what was known at the time, or a deliberately broken pipeline is not detected'),
  verdict: z.string().describe('Verdict as a sentence'),
  splitDay: DATE.describe('First day of the later era: first trading day of US spot Bitcoin ETFs'),
  horizons: z.array(HORIZON).describe('Folds by era and regime per horizon; intervals are 95 %, by the block bootstrap'),
  suspicions: z
    .array(SUSPICION)
    .describe(
      "Eras whose skill exceeds the other's with an interval that excludes zero, and eras or regimes with an accuracy above 60 % and above always saying UP, or below always saying UP, with an interval that excludes zero",
    ),
  pointInTime: z
    .object({
      days: z.array(DATE).describe('Days whose features were recomputed from data known at 21:35 UTC, with the close as price'),
      vintages: z
        .enum(VINTAGES)
        .describe(
          'Origin of that data: collected, kept as first seen since the service began; made, a simulated market without revisions; none, the same data as the whole history, where earlier revisions cannot show',
        ),
      differences: z.array(FEATURE_DIFFERENCE).describe('Features that differ: an input was revised, or a look-ahead'),
    })
    .describe('Features of the whole history against data known at the time'),
  lagMutants: z.array(LAG_MUTANT).describe('The same audit of pipelines that read one input a day too early: each must be detected'),
});
