import { z } from 'zod';
import { CHALLENGE_VERDICTS } from '../../../../forecast/challenge/verdict.ts';
import { HORIZON_NAMES } from '../../../../forecast/horizon-input.ts';
import { HORIZONS } from '../../../../forecast/model.ts';
import { MODEL_NAMES } from '../../../../forecast/models/registry.ts';
import { SERIES_MEASURE_NAMES, type SeriesMeasureName } from '../../../../forecast/statistics/series/score-series.ts';
import { COUNT, DATE, PROBABILITY, SUCCESS, TIME } from '../../../../platform/validation/fields.ts';

const MODEL = z.enum(MODEL_NAMES);
const HORIZON = z.enum(HORIZON_NAMES);
const E_VALUE = z.number().min(0);

const ESTIMATE = {
  low: z.number().nullable().describe('Lower bound of its 95 % interval by blocks of days; null with too few days'),
  high: z.number().nullable().describe('Upper bound'),
};

const PAIR = {
  challenger: MODEL.describe('The version that is tested'),
  against: MODEL.describe('The version before it'),
};

const COMPARISON = z.object({
  ...PAIR,
  days: COUNT.describe('Resolved days on which both had committed a distribution'),
  throughDate: DATE.nullable().describe('The last of them; null without any'),
  threshold: z.number().describe('Evidence that proves a difference at 5 %, whenever one looks (Ville)'),
  eBetter: E_VALUE.describe('Evidence today that the challenger has the lower CRPS: the e-value'),
  eWorse: E_VALUE.describe('Evidence today that it has the higher CRPS'),
  maxBetter: E_VALUE.describe('Highest `eBetter` so far'),
  maxWorse: E_VALUE.describe('Highest `eWorse` so far'),
  verdict: z.enum(CHALLENGE_VERDICTS).describe('From the highest values: what was proven once stays proven'),
  since: DATE.nullable().describe('Forecast day whose outcome proved it; null while nothing is proven'),
});

const DISTRIBUTION = z.object({
  name: z.string().describe('Name of the model version or baseline'),
  title: z.string().describe('What it is'),
  kind: z.enum(['model', 'baseline']).describe('Committed on chain, or computed from prices for comparison'),
  n: COUNT.describe('Resolved forecasts with its distribution'),
  crps: z.number().min(0).describe('Mean continuous ranked probability score in log-return units, lower is better'),
  skill: z
    .object({ value: z.number().describe('1 - CRPS / CRPS of climatology on the same days'), ...ESTIMATE })
    .nullable()
    .describe('Above 0 is better than climatology; null for climatology'),
  logScore: z.number().describe('Mean negative log density, lower is better'),
  coverage: z
    .array(
      z.object({
        nominal: PROBABILITY.describe('Probability of the central range'),
        value: PROBABILITY.describe('Share of the outcomes within it'),
        ...ESTIMATE,
      }),
    )
    .describe('Outcomes within the central ranges'),
  coverage80ByWeekday: z
    .array(
      z.object({
        weekday: z.string().describe('Weekday, UTC, on which the outcome window begins'),
        n: COUNT.describe('Resolved forecasts'),
        observed: PROBABILITY.nullable().describe('Share within the 80 % range; null without any'),
      }),
    )
    .describe('By weekday, which shows what the width does not know'),
});

export const CHALLENGE_REPLY = z.object({
  success: SUCCESS,
  champion: MODEL.describe('The version by which the service forecasts'),
  changes: z
    .array(
      z.object({
        at: TIME.describe('When'),
        from: MODEL.describe('The champion until then'),
        to: MODEL.describe('The champion since'),
        forced: z.boolean().describe('The record had not proven it better'),
        evidence: z
          .array(z.looseObject({ horizon: HORIZON.describe('Horizon') }))
          .describe('The tests of both at that time, as in `horizons`'),
      }),
    )
    .describe('Changes of the champion, by the operator, the oldest first'),
  horizons: z
    .array(
      z.object({
        horizon: HORIZON.describe('Horizon'),
        horizonDays: z.literal([...HORIZONS]).describe('The same in days'),
        comparisons: z.array(COMPARISON).describe('Tests of each version against the one before'),
        distributions: z.array(DISTRIBUTION).describe('Scores of all distributions over the record'),
      }),
    )
    .describe('One entry a horizon'),
});

const MEASURE_TEXTS: Record<SeriesMeasureName, string> = {
  hitRate: 'Share of calls whose direction came true',
  alwaysUp: 'The same of always saying UP on these days',
  hitAdvantage: 'hitRate - alwaysUp, in daily pairs',
  brierSkill: 'Brier skill of P(up) against the base rate known at the time',
  crpsSkill: 'CRPS skill of the committed distribution against climatology',
  coverage80: 'Share of outcomes within the committed 80 % range',
};

const VALUE = z.object({ value: z.number().nullable().describe('Null without days'), ...ESTIMATE });
const VALUES = z.object(
  Object.fromEntries(SERIES_MEASURE_NAMES.map((name) => [name, VALUE.describe(MEASURE_TEXTS[name])])) as Record<
    SeriesMeasureName,
    typeof VALUE
  >,
);

export const SERIES_REPLY = z.object({
  success: SUCCESS,
  horizon: HORIZON.describe('Horizon'),
  rollingDays: COUNT.describe('Days of the rolling window'),
  points: z
    .array(
      z.object({
        date: DATE.describe('Day of the forecast'),
        n: COUNT.describe('Resolved forecasts up to it'),
        cumulative: VALUES.describe('Over all days up to it'),
        rolling: VALUES.describe('The same over the rolling window that ends with it'),
        evidence: z
          .array(z.object({ ...PAIR, eBetter: E_VALUE.describe('As in /api/svc/challenge'), eWorse: E_VALUE.describe('As there') }))
          .describe('E-values after it'),
      }),
    )
    .describe('One a resolved day, newest first'),
  nextCursor: DATE.nullable().describe('`before` of the next page; null on the last'),
});
