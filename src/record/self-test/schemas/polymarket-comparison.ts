import { z } from 'zod';
import { COUNT, DATE, PROBABILITY } from '../../../platform/validation/fields.ts';

const LOG_LOSS = z.number().min(0).nullable();

const ACCURACY = z.object({
  markets: COUNT.describe('Settled markets, each once'),
  weeks: COUNT.describe('Weeks of expiry: markets of one week share their outcome, so that weeks are the sample size'),
  calls: COUNT.describe('Markets with a probability above or below one half'),
  hits: COUNT.describe('Calls that were right'),
  hitRate: PROBABILITY.nullable().describe('hits / calls; null before the first call'),
  hitRateInterval95: z
    .object({ low: PROBABILITY.describe('Lower bound'), high: PROBABILITY.describe('Upper bound') })
    .nullable()
    .describe('95 % Wilson interval on the number of weeks with calls; null before the first call'),
  brier: z.number().min(0).max(1).nullable().describe('Mean Brier score, lower is better; a constant one half scores 0.25'),
  logLoss: LOG_LOSS.describe('Mean log loss, natural logarithm, lower is better; a constant one half scores 0.6931'),
});

const SCORES = z.object({
  brier: z.number().min(0).max(1).describe('Mean Brier score, lower is better'),
  logLoss: z.number().min(0).describe('Mean log loss, natural logarithm, lower is better'),
});

const DIFFERENCE = z.object({
  n: COUNT.describe('Pairs, one per week'),
  mean: z.number().describe('Mean of oracle minus market; negative means the oracle was better'),
  low: z.number().nullable().describe("Lower bound of the 95 % interval (Student's t); null for a single pair"),
  high: z.number().nullable().describe('Upper bound; null for a single pair'),
});

const WEEKLY = z.object({
  weeks: COUNT.describe('Settled weeks, one strike each: the nearest to the money'),
  market: SCORES.nullable().describe('Mean scores of the market; null before the first settled week'),
  oracle: SCORES.nullable().describe('Mean scores of the oracle; null before the first settled week'),
  brierDifference: DIFFERENCE.nullable().describe('Paired Brier scores; null before the first settled week'),
  logLossDifference: DIFFERENCE.nullable().describe('Paired log losses; null before the first settled week'),
  oracleCloser: COUNT.describe('Weeks in which the oracle was closer'),
  marketCloser: COUNT.describe('Weeks in which the market was closer'),
});

const WEIGHT = z.object({
  settledMarkets: COUNT.describe('Settled markets behind the weight'),
  modelLogLoss: LOG_LOSS.describe("Mean log loss of the model's probability; null before the first"),
  marketLogLoss: LOG_LOSS.describe("Mean log loss of the market's price; null before the first"),
  weightGivenToModel: PROBABILITY.describe(
    'Weight of the model against the market in wagers: 0 until it has beaten the market on 30 settled markets',
  ),
});

export const POLYMARKET_COMPARISON = z.object({
  verdict: z.string().describe('Verdict as a sentence'),
  venue: z.string().describe('Venue of the prices'),
  quotesAreOurs: z.boolean().describe('True when the service makes the prices itself: results against them prove nothing'),
  throughDate: DATE.describe('Last included day: all forecasts up to it are public'),
  accuracy: z
    .object({
      market: ACCURACY.describe('Accuracy and scores of the market price'),
      oracle: ACCURACY.describe("The same for the model's probability of the same strikes at the same times"),
    })
    .describe('Prediction market and oracle on the same questions'),
  weekly: WEEKLY.describe('Head-to-head on one strike per week; the weeks are at /api/svc/crowd-vs-oracle'),
  weight: WEIGHT.describe('Weight of the model in wagers'),
  notes: z.array(z.string()).describe('Limits of the figures'),
});
