import { z } from 'zod';
import { COUNT, DATE, TIME } from '../../platform/validation/fields.ts';
import { BREAKDOWNS, MODEL_VERSION_ROW, REGIME_ROW, SHARE } from './breakdown.ts';
import { HORIZON, REGIME, STATUS } from './forecast.ts';
import { ENTRY, SUMMARY } from './scorecard.ts';
import { RECORD_STATISTICS } from './statistics.ts';

const BOUND = z.number().min(-1).max(1);

const STATISTICS = SUMMARY.extend({
  brierDifference: z
    .object({
      n: COUNT.describe('Resolved forecasts whose windows do not overlap, HOLD included'),
      mean: BOUND.describe('Mean of model minus climatology, Brier scores in pairs, -1 to 1; below zero the model is better'),
      low: BOUND.nullable().describe("Lower bound of its 95 % interval, by Student's t; null for a single pair"),
      high: BOUND.nullable().describe('Upper bound of it; null for a single pair'),
    })
    .nullable()
    .describe('Whether the probabilities beat the base rate; null before the first resolution'),
  calls: RECORD_STATISTICS.shape.calls
    .nullable()
    .describe('How often the calls were right, with error bars that use all windows; null with the filter `status`'),
  probabilities: RECORD_STATISTICS.shape.probabilities.describe(
    'How good the probabilities were, HOLD included; null before the first outcome, and with the filter `status`',
  ),
  distribution: RECORD_STATISTICS.shape.distribution.describe(
    "How good the predictive distributions were, by this service's stored models: only the probability is committed on chain. Null where none is known, and with the filter `status`",
  ),
});

const WHOLE = z.object({
  total: COUNT.describe('All forecasts of the horizon'),
  ...SHARE,
  verdict: z.string().describe('What the whole record of the horizon amounts to, in words'),
});

const FILTERS = z.object({
  horizon: HORIZON.describe('Days from the opening of the outcome window to its end'),
  from: DATE.nullable().describe('First day that forecasts may be made on, UTC; null for no limit'),
  to: DATE.nullable().describe('Last day that forecasts may be made on, UTC, itself included; null for no limit'),
  regime: REGIME.nullable().describe('The market regime that they were made in; null for all'),
  status: STATUS.nullable().describe('What became of them; null for all'),
});

export const TRACK_RECORD = z.object({
  asOf: TIME.describe('The instant that it is told at'),
  filters: FILTERS.describe('What was asked for, as it was understood'),
  statistics: STATISTICS.describe(
    'Counts, accuracy and what they are worth, of exactly the forecasts that the filters leave; with the filter `status` only the counts, since the outcome was chosen',
  ),
  byRegime: z.array(REGIME_ROW).describe('The same forecasts by market regime, the most frequent first'),
  byModelVersion: z.array(MODEL_VERSION_ROW).describe('The same by the model that made them, the newest first'),
  byHorizon: BREAKDOWNS.byHorizon.describe('The whole records of all four horizons in short, whatever the filters'),
  marketSkill: BREAKDOWNS.marketSkill,
  wholeRecord: WHOLE.describe('The same figures without any filter but the horizon, to hold the others against'),
  inference: z.string().describe('What the filters do to the figures, in words'),
  entries: z.array(ENTRY).describe('The forecasts of this page, newest first, as the caller may see them'),
  page: z.int().min(1).describe('The page that is told, from 1'),
  pageSize: z.int().min(1).describe('Entries on a full page'),
  pages: COUNT.describe('How many pages there are; 0 when the filters leave nothing'),
  total: COUNT.describe('How many forecasts the filters leave'),
  source: z.string().describe('Where the market data comes from, e.g. `live` or `simulated (seed 2)`'),
});

export type TrackRecordReply = z.input<typeof TRACK_RECORD>;
