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
      n: COUNT.describe('Resolved forecasts on non-overlapping windows, HOLD included'),
      mean: BOUND.describe('Mean difference of paired Brier scores, model minus climatology, -1 to 1; negative is better'),
      low: BOUND.nullable().describe("Lower bound of the 95 % interval, Student's t; null for a single pair"),
      high: BOUND.nullable().describe('Upper bound; null for a single pair'),
    })
    .nullable()
    .describe('Model against the base rate; null before the first resolution'),
  calls: RECORD_STATISTICS.shape.calls
    .nullable()
    .describe('Accuracy of the calls, with error bars from all windows; null with the filter `status`'),
  probabilities: RECORD_STATISTICS.shape.probabilities.describe(
    'Quality of the probabilities, HOLD included; null without outcomes, and with `status`',
  ),
  distribution: RECORD_STATISTICS.shape.distribution.describe(
    'Quality of the predictive distributions by the stored models; only the probability is committed on chain. Null when none is known, and with the filter `status`',
  ),
});

const WHOLE = z.object({
  total: COUNT.describe('All forecasts of the horizon'),
  ...SHARE,
  verdict: z.string().describe("Verdict on the horizon's whole record, as a sentence"),
});

const FILTERS = z.object({
  horizon: HORIZON.describe('Length of the outcome window in days'),
  from: DATE.nullable().describe('First day of forecasts, UTC; null without a limit'),
  to: DATE.nullable().describe('Last day of forecasts, UTC, inclusive; null without a limit'),
  regime: REGIME.nullable().describe('Market regime at signal time; null for all'),
  status: STATUS.nullable().describe('State of the forecast; null for all'),
});

export const TRACK_RECORD = z.object({
  asOf: TIME.describe('Time of the response'),
  filters: FILTERS.describe('Filters as parsed'),
  statistics: STATISTICS.describe(
    'Counts, accuracy and evidence of exactly the filtered forecasts; with the filter `status` only counts, since it selects by outcome',
  ),
  byRegime: z.array(REGIME_ROW).describe('The filtered forecasts by market regime, most frequent first'),
  byModelVersion: z.array(MODEL_VERSION_ROW).describe('The filtered forecasts by model version, newest first'),
  byHorizon: BREAKDOWNS.byHorizon.describe('Summary of each of the four horizons, regardless of filters'),
  marketSkill: BREAKDOWNS.marketSkill,
  wholeRecord: WHOLE.describe('The unfiltered figures of the horizon, for comparison'),
  inference: z.string().describe('Effect of the filters on inference, as a sentence'),
  entries: z.array(ENTRY).describe('Forecasts of this page, newest first, cut to the caller'),
  page: z.int().min(1).describe('Page number, from 1'),
  pageSize: z.int().min(1).describe('Entries on a full page'),
  pages: COUNT.describe('Number of pages; 0 when no forecast matches'),
  total: COUNT.describe('Forecasts that match the filters'),
  source: z.string().describe('Source of the market data, e.g. `live` or `simulated (seed 2)`'),
});

export type TrackRecordReply = z.input<typeof TRACK_RECORD>;
