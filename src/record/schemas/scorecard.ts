import { z } from 'zod';
import { RISK_LEVELS } from '../../forecast/regime/regime.ts';
import { BYTES32, COUNT, DATE, PROBABILITY, SUCCESS } from '../../platform/validation/fields.ts';
import { RECORD_DETAILS } from './breakdown.ts';
import { DIRECTION, FORECAST_ID, FORECAST_PRICES, FORECAST_STATE, FORECAST_VALUES, HORIZON, INTERVAL, OUTCOME, TALLY } from './forecast.ts';
import { BRIER } from './statistics.ts';

export const SUMMARY = z.object({
  totalPredictions: COUNT.describe('All forecasts, whatever their outcome'),
  resolved: COUNT.describe('Scored forecasts: wins and losses'),
  wins: COUNT.describe('Scored forecasts whose direction came true'),
  losses: COUNT.describe('Scored forecasts whose direction did not come true'),
  holds: COUNT.describe('Resolved forecasts that abstained; not scored'),
  voids: COUNT.describe('Missed or committed too late; not scored'),
  missed: COUNT.describe('Voids without a forecast'),
  pending: COUNT.describe('Not resolved yet'),
  accuracy: PROBABILITY.nullable().describe('Wins / resolved, 0 to 1; null before the first'),
  dedupedTotal: COUNT.describe(
    'Scored forecasts after removing overlapping windows: the first, and each that starts after the previous one has ended',
  ),
  dedupedWins: COUNT.describe('Wins among them'),
  dedupedAccuracy: PROBABILITY.nullable().describe('Their accuracy, 0 to 1; null before the first'),
  dedupedInterval95: INTERVAL.nullable().describe(
    '95 % Wilson interval of `dedupedWins` in `dedupedTotal`, which use a part of the calls; null before the first',
  ),
  accuracyInterval95: INTERVAL.nullable().describe(
    '95 % Wilson interval of `accuracy`, the headline interval, on the effective sample size given overlapping windows (`effectiveN` in `byHorizon` and `statistics.calls`); null before the first',
  ),
  alwaysUpAccuracy: PROBABILITY.nullable().describe('Accuracy of always saying UP on the same forecasts, 0 to 1'),
  streak: z
    .object({
      count: COUNT.describe('Length of the run'),
      type: OUTCOME.nullable().describe('Outcome of the run; null before the first'),
    })
    .describe('Current run of equal outcomes'),
  brier: BRIER.nullable().describe('Brier score of the probabilities against the base rate; null before the first'),
  verdict: z
    .string()
    .describe(
      'Verdict as a sentence: `wins` of `resolved` with `accuracyInterval95`, with overlapping windows also `dedupedWins` of `dedupedTotal`, and whether it differs from always saying UP: DOWN calls on non-overlapping windows are tested, right against wrong, at 5 %, and the daily difference must agree',
    ),
});

/** In the types of the interface: numbers also where nothing is scored. */
export const PUBLISHED_SUMMARY = SUMMARY.extend({
  scored: COUNT.describe('The same as `resolved`; while it is 0, shares are not measurements'),
  accuracy: PROBABILITY.describe('Wins / resolved, 0 to 1; 0 while `scored` is 0'),
  dedupedAccuracy: PROBABILITY.describe('Accuracy on non-overlapping windows, 0 to 1; 0 while `dedupedTotal` is 0'),
  streak: z
    .object({
      count: COUNT.describe('Length of the run; 0 while nothing is scored'),
      type: OUTCOME.describe('Outcome of the run; meaningless while `count` is 0'),
    })
    .describe('Current run of equal outcomes'),
});

const STATS = z.object({
  total: COUNT.describe('All forecasts'),
  scored: COUNT.describe('Wins and losses; while it is 0, `accuracy` is not a measurement'),
  wins: COUNT.describe('Scored forecasts whose direction came true'),
  losses: COUNT.describe('Scored forecasts whose direction did not come true'),
  accuracy: PROBABILITY.describe('Wins / (wins + losses), 0 to 1; 0 while `scored` is 0'),
  currentStreak: COUNT.describe('Current run of wins'),
  longestStreak: COUNT.describe('Longest run of wins'),
});

const BAND80 = z.object({
  low: z.number().describe('Quantile 0.10, BTC/USD: one close in ten is expected below'),
  median: z.number().describe('Quantile 0.50, BTC/USD'),
  high: z.number().describe('Quantile 0.90, BTC/USD: one close in ten is expected above'),
});

export const ENTRY = z.object({
  ...FORECAST_ID,
  ...FORECAST_VALUES,
  band80: BAND80.nullable().describe(
    'Central 80 % of the predictive distribution of the close at resolution; null until the outcome for callers below Premium, and for a missed day. Not committed on chain, unlike direction and probabilities: it is shown as stored.',
  ),
  ...FORECAST_STATE,
  riskLevel: z.enum(RISK_LEVELS).nullable().describe('Risk level of the regime; null for a missed day'),
  ...FORECAST_PRICES,
  outcome: z
    .object({
      actualReturn: z.number().describe('Return over the window, as a fraction'),
      actualDirection: DIRECTION.describe('Realized direction'),
      correct: z.boolean().describe('Whether it matches the forecast direction'),
    })
    .nullable()
    .describe('null until the outcome is on chain, and for HOLD and VOID; `status` has the state'),
  attestationUid: BYTES32.nullable().describe('Uid of the committing attestation; null until it is on chain'),
  resolutionUid: BYTES32.nullable().describe('Uid of the resolution attestation; null until it is on chain'),
});

export const PREDICTION_MARKET = z.object({
  venue: z.string().describe('Venue of the wagers'),
  quotesAreOurs: z.boolean().describe('True when the service makes the quotes itself: winning against them proves nothing'),
  throughDate: DATE.describe('Last counted day: all forecasts up to it are public'),
  settledMarkets: COUNT.describe('Settled markets in the comparison'),
  modelLogLoss: z
    .number()
    .min(0)
    .nullable()
    .describe("Mean log loss of the model's probabilities, natural logarithm; null without a market"),
  marketLogLoss: z.number().min(0).nullable().describe("Mean log loss of the market's prices, natural logarithm; null without a market"),
  weightGivenToModel: PROBABILITY.describe('Weight of the model against the market in wagers, 0 to 1'),
  wagers: TALLY.describe('Settled wagers'),
});

export const SCORECARD = z.object({
  success: SUCCESS,
  horizon: HORIZON.describe('Requested horizon'),
  source: z.string().describe('Source of the market data'),
  summary: PUBLISHED_SUMMARY.describe('Counts, accuracy and their evidence'),
  stats: STATS.describe('The same in the other shape of the interface'),
  ...RECORD_DETAILS,
  predictionMarket: PREDICTION_MARKET.describe('The model against prediction markets, on wagers of public days'),
  predictions: z.array(ENTRY).describe("A page of the horizon's forecasts, newest first"),
  count: COUNT.describe('Forecasts on this page; `summary.totalPredictions` is the total'),
  nextCursor: z.string().nullable().describe('`before` of the next page; null on the last'),
});

export type ScorecardReply = z.input<typeof SCORECARD>;
