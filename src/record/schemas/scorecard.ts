import { z } from 'zod';
import { RISK_LEVELS } from '../../forecast/regime/regime.ts';
import { BYTES32, COUNT, DATE, PROBABILITY, SUCCESS } from '../../platform/validation/fields.ts';
import { RECORD_DETAILS } from './breakdown.ts';
import { BRIER } from './brier.ts';
import { DIRECTION, FORECAST_ID, FORECAST_PRICES, FORECAST_STATE, FORECAST_VALUES, HORIZON, INTERVAL, OUTCOME, TALLY } from './forecast.ts';

export const SUMMARY = z.object({
  totalPredictions: COUNT.describe('All forecasts, whatever became of them'),
  resolved: COUNT.describe('Scored forecasts: wins and losses'),
  wins: COUNT.describe('Scored forecasts whose direction came true'),
  losses: COUNT.describe('Scored forecasts whose direction did not'),
  holds: COUNT.describe('Resolved forecasts that abstained: shown, never scored'),
  voids: COUNT.describe('Missed or committed too late: shown, never scored'),
  missed: COUNT.describe('Those of the voids on which nothing was forecast'),
  pending: COUNT.describe('Not resolved yet'),
  accuracy: PROBABILITY.nullable().describe('Wins over resolved, 0 to 1; null before the first'),
  dedupedTotal: COUNT.describe(
    'Scored forecasts left when overlapping windows are dropped: the first, and each that begins when the one before it is over',
  ),
  dedupedWins: COUNT.describe('Those of them whose direction came true'),
  dedupedAccuracy: PROBABILITY.nullable().describe('Accuracy of those, 0 to 1; null before the first'),
  dedupedInterval95: INTERVAL.nullable().describe(
    '95 % Wilson interval of `dedupedWins` in `dedupedTotal`: of that share alone, which uses a part of the calls; null before the first',
  ),
  accuracyInterval95: INTERVAL.nullable().describe(
    'The 95 % interval of `accuracy`, which is told first everywhere: Wilson, on as many trials as all calls are worth by the overlap of their windows (`effectiveN` in `byHorizon` and `statistics.calls`); null before the first',
  ),
  alwaysUpAccuracy: PROBABILITY.nullable().describe('What always saying UP would have scored on the same forecasts, 0 to 1'),
  streak: z
    .object({
      count: COUNT.describe('Length of the run'),
      type: OUTCOME.nullable().describe('Of what; null before the first'),
    })
    .describe('The run of equal outcomes that is still going on'),
  brier: BRIER.nullable().describe('The probabilities against the base rate; null before the first'),
  verdict: z
    .string()
    .describe(
      'What the figures amount to, in words: `wins` of `resolved` with `accuracyInterval95`, where windows overlap also `dedupedWins` of `dedupedTotal`, and whether it can be told from always saying UP: the calls of DOWN among windows that do not overlap are tested, right against wrong, at 5 %, and the difference day by day has to agree',
    ),
});

/** In the types of the interface: numbers also where nothing is scored. */
export const PUBLISHED_SUMMARY = SUMMARY.extend({
  scored: COUNT.describe('The same as `resolved`: while it is 0, nothing is scored, and shares are no measurement'),
  accuracy: PROBABILITY.describe('Wins over resolved, 0 to 1; 0 while `scored` is 0'),
  dedupedAccuracy: PROBABILITY.describe('Accuracy of those on windows that do not overlap, 0 to 1; 0 while `dedupedTotal` is 0'),
  streak: z
    .object({
      count: COUNT.describe('Length of the run; 0 while nothing is scored'),
      type: OUTCOME.describe('Of what; it means nothing while `count` is 0'),
    })
    .describe('The run of equal outcomes that is still going on'),
});

const STATS = z.object({
  total: COUNT.describe('All forecasts'),
  scored: COUNT.describe('Wins and losses: while it is 0, `accuracy` is no measurement'),
  wins: COUNT.describe('Scored forecasts whose direction came true'),
  losses: COUNT.describe('Scored forecasts whose direction did not'),
  accuracy: PROBABILITY.describe('Wins over wins and losses, 0 to 1; 0 while `scored` is 0'),
  currentStreak: COUNT.describe('Wins in a row up to now'),
  longestStreak: COUNT.describe('Longest run of wins'),
});

const BAND80 = z.object({
  low: z.number().describe('Quantile 0.10, BTC/USD: one close in ten was expected below'),
  median: z.number().describe('Quantile 0.50, BTC/USD'),
  high: z.number().describe('Quantile 0.90, BTC/USD: one close in ten was expected above'),
});

export const ENTRY = z.object({
  ...FORECAST_ID,
  ...FORECAST_VALUES,
  band80: BAND80.nullable().describe(
    'The middle 80 % of what was expected of the close at resolution, from the predictive distribution; null until the outcome for callers below Premium, and when nothing was forecast. Unlike direction and probabilities it is not committed on chain: it is shown as this service stored it.',
  ),
  ...FORECAST_STATE,
  riskLevel: z.enum(RISK_LEVELS).nullable().describe('How risky the market is in that regime; null when nothing was forecast'),
  ...FORECAST_PRICES,
  outcome: z
    .object({
      actualReturn: z.number().describe('Return over the window, as a fraction'),
      actualDirection: DIRECTION.describe('Where the price went'),
      correct: z.boolean().describe('Whether that is the direction that was forecast'),
    })
    .nullable()
    .describe('null until the outcome is on chain, and for HOLD and VOID; `status` carries the word'),
  attestationUid: BYTES32.nullable().describe('Uid of the attestation that commits to it; null until it is on chain'),
  resolutionUid: BYTES32.nullable().describe('Uid of the attestation of its outcome; null until it is on chain'),
});

export const PREDICTION_MARKET = z.object({
  venue: z.string().describe('Where the wagers go'),
  quotesAreOurs: z.boolean().describe('True when the service makes the quotes itself: winning against them proves nothing'),
  throughDate: DATE.describe('Last day whose wagers count: the forecasts of all horizons up to it are told'),
  settledMarkets: COUNT.describe('Settled markets on which model and market are compared'),
  modelLogLoss: z
    .number()
    .min(0)
    .nullable()
    .describe("Mean log loss of the model's probabilities, natural logarithm; null without a market"),
  marketLogLoss: z.number().min(0).nullable().describe("Mean log loss of the market's prices, natural logarithm; null without a market"),
  weightGivenToModel: PROBABILITY.describe("Share of the model's deviation from the market that wagers believe in, 0 to 1"),
  wagers: TALLY.describe('Settled wagers'),
});

/** Interface, section 2.3. */
export const SCORECARD = z.object({
  success: SUCCESS,
  horizon: HORIZON.describe('The horizon that was asked for'),
  source: z.string().describe('Where the market data comes from'),
  summary: PUBLISHED_SUMMARY.describe('Counts, accuracy and what they are worth'),
  stats: STATS.describe('The same in the other shape of the interface'),
  ...RECORD_DETAILS,
  predictionMarket: PREDICTION_MARKET.describe('The model against prediction markets, on the wagers of days that are over'),
  predictions: z.array(ENTRY).describe('Forecasts of the horizon, newest first: a page of them'),
  count: COUNT.describe('How many this page has; `summary.totalPredictions` is how many there are'),
  nextCursor: z.string().nullable().describe('`before` of the next page; null on the last'),
});

export type ScorecardReply = z.input<typeof SCORECARD>;
