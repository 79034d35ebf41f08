import { z } from 'zod';
import { COUNT, DATE, PROBABILITY } from '../../../platform/validation/fields.ts';

const LOG_LOSS = z.number().min(0).nullable();

const ACCURACY = z.object({
  markets: COUNT.describe('Settled markets, each once'),
  weeks: COUNT.describe('Weeks that these expire in: markets of one week share their outcome, so that this is what the evidence is worth'),
  calls: COUNT.describe('Markets with a probability above or below one half'),
  hits: COUNT.describe('Calls that were right'),
  hitRate: PROBABILITY.nullable().describe('hits / calls; null before the first call'),
  hitRateInterval95: z
    .object({ low: PROBABILITY.describe('Lower bound'), high: PROBABILITY.describe('Upper bound') })
    .nullable()
    .describe('95 % Wilson interval of it, on the number of weeks that the calls lie in; null before the first call'),
  brier: z.number().min(0).max(1).nullable().describe('Mean Brier score, lower is better; saying one half always scores 0.25'),
  logLoss: LOG_LOSS.describe('Mean log loss, natural logarithm, lower is better; saying one half always scores 0.6931'),
});

const SCORES = z.object({
  brier: z.number().min(0).max(1).describe('Mean Brier score, lower is better'),
  logLoss: z.number().min(0).describe('Mean log loss, natural logarithm, lower is better'),
});

const DIFFERENCE = z.object({
  n: COUNT.describe('Pairs, one a week'),
  mean: z.number().describe('Mean of oracle minus market; below zero the oracle was better'),
  low: z.number().nullable().describe('Lower bound of its 95 % interval (Student t); null for a single pair'),
  high: z.number().nullable().describe('Upper bound of it; null for a single pair'),
});

const WEEKLY = z.object({
  weeks: COUNT.describe('Settled weeks, one strike each: the closest to the money'),
  market: SCORES.nullable().describe("Means of the market's scores; null before the first settled week"),
  oracle: SCORES.nullable().describe("Means of the oracle's; null before the first settled week"),
  brierDifference: DIFFERENCE.nullable().describe('Brier scores in pairs; null before the first settled week'),
  logLossDifference: DIFFERENCE.nullable().describe('Log losses in pairs; null before the first settled week'),
  oracleCloser: COUNT.describe('Weeks in which the oracle was closer'),
  marketCloser: COUNT.describe('Weeks in which the market was closer'),
});

const WEIGHT = z.object({
  settledMarkets: COUNT.describe('Settled markets that the weight is earned on'),
  modelLogLoss: LOG_LOSS.describe("Mean log loss of the model's probability; null before the first"),
  marketLogLoss: LOG_LOSS.describe("Mean log loss of the market's price; null before the first"),
  weightGivenToModel: PROBABILITY.describe(
    "Share of the model's deviation from the market that wagers believe in: 0 until it has beaten the market on 30 settled markets",
  ),
});

export const POLYMARKET_COMPARISON = z.object({
  verdict: z.string().describe('What the figures amount to, in words'),
  venue: z.string().describe('Who quoted the prices'),
  quotesAreOurs: z.boolean().describe('True where the prices are made by this service itself: what is found against them proves nothing'),
  throughDate: DATE.describe('The last day whose forecasts of all horizons everybody may know: no later one is in it'),
  accuracy: z
    .object({
      market: ACCURACY.describe('How often the price was on the right side, and how good it was'),
      oracle: ACCURACY.describe("The same of the model's probability of the same strikes at the same times"),
    })
    .describe('Prediction market and oracle on the same questions'),
  weekly: WEEKLY.describe('The head-to-head of one strike a week: week by week at /api/svc/crowd-vs-oracle'),
  weight: WEIGHT.describe('What the comparison means for wagers'),
  notes: z.array(z.string()).describe('What a reader should know before he believes the figures'),
});
