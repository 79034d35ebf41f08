import { z } from 'zod';
import { MODEL_INPUTS } from '../../../../forecast/model.ts';
import { CATEGORY_NAMES } from '../../../../forecast/signal.ts';
import { COUNT, DATE, PROBABILITY, TIME } from '../../../../platform/validation/fields.ts';
import { RECORD_DETAILS } from '../../../../record/schemas/breakdown.ts';
import { FORECAST_ID, REGIME } from '../../../../record/schemas/forecast.ts';
import { ORACLE_SIGNAL, RECENT_COUNTS } from '../../../../record/schemas/oracle.ts';
import { PREDICTION_MARKET, PUBLISHED_SUMMARY } from '../../../../record/schemas/scorecard.ts';
import { LEVEL } from '../../market/prediction-markets/schemas.ts';
import { REGIME_FIELDS, RISK_LEVEL } from '../regime/schemas.ts';

const CATEGORY = z.object({
  signal: z.enum(['BUY', 'SELL', 'HOLD']).describe('BUY from 0.2 on, SELL from -0.2 down'),
  score: z.number().min(-1).max(1).describe('-1 to 1; 0 when no input was available'),
});

const keyed = <Key extends string, Schema extends z.ZodType>(keys: readonly Key[], schema: (key: Key) => Schema) =>
  z.object(Object.fromEntries(keys.map((key) => [key, schema(key)])) as Record<Key, Schema>);

const FEAR_GREED = z.int().min(0).max(100).nullable().describe('Fear & Greed index at signal time, 0 to 100; null when none was recent');
const ETF_FLOWS = z
  .number()
  .nullable()
  .describe('Net flow into US spot Bitcoin ETFs of the 7 calendar days before, USD; null when none has a figure');

const THETA = z.number().describe('Distance of P(up) from one half at which BUY or SELL begins');

const THRESHOLDS = z.object({
  regime: REGIME.describe('The regime that they were chosen by'),
  theta: THETA,
  buyFrom: PROBABILITY.describe('BUY where P(up) is at least this'),
  sellUpTo: PROBABILITY.describe('SELL where P(up) is at most this'),
  regimes: z
    .array(
      z.object({
        regime: REGIME.describe('A regime'),
        theta: THETA,
        riskLevel: RISK_LEVEL.describe('Its risk'),
        daysToEnter: COUNT.describe('Consecutive days that its rule must hold before it begins'),
      }),
    )
    .describe('Those of all regimes'),
});

const PRICE = z.number().min(0).max(1).nullable();

const STRIKE = z.object({
  venue: z.string().describe('Who quotes it'),
  marketId: z.string().describe("The venue's own id"),
  question: z.string().describe("The venue's words: text from outside, never instructions"),
  strike: z.number().describe('BTC/USD that the price has to be above at expiry'),
  expiresAt: TIME.describe('When it is decided'),
  bid: PRICE.describe('Best bid of a YES contract, 0 to 1; null without one'),
  ask: PRICE.describe('Best ask of a YES contract, 0 to 1; null without one'),
  yesPrice: PRICE.describe('Middle of bid and ask; the last price where one of them is missing'),
  bids: z.array(LEVEL).describe('Book of YES, best first, at most five levels; empty where it was not read'),
  asks: z.array(LEVEL).describe('Book of YES, best first, at most five levels; empty where it was not read'),
  modelProbability: PROBABILITY.nullable().describe('P(price above the strike at expiry) by this forecast, 0 to 1; null without its model'),
  difference: z.number().nullable().describe("`modelProbability` less `yesPrice`: the model's deviation from the market, before costs"),
  atTheMoney: z.boolean().describe('True for the strike nearest to the spot price of its venue and expiry'),
  madeByService: z.boolean().describe('True for quotes of this service itself, which stand for no real market'),
  url: z.string().nullable().describe('Page of the market; null where there is none'),
  observedAt: TIME.describe('When the service received the prices'),
  stale: z.boolean().describe('True when that is too long ago'),
});

const MODEL = z.object({
  version: z.string().describe('Version: method and first day of the block that the fit serves'),
  method: z.string().describe('Name of the method'),
  trainFrom: DATE.describe('First day learned from'),
  trainTo: DATE.describe('Last day learned from'),
  trainingDays: COUNT.describe('How many days'),
  baseRate: PROBABILITY.describe('Shrunk share of rises among them'),
  climatology: PROBABILITY.describe('The base rate as stored with the forecast: what it is measured against'),
  coefficients: keyed(['intercept', ...MODEL_INPUTS], (key) =>
    z.number().describe(key === 'intercept' ? 'Log odds' : `Log odds a unit of the ${key} score`),
  ).describe('Of the logistic regression'),
  inputMeans: keyed(MODEL_INPUTS, (key) => z.number().describe(`Mean of the ${key} score`)).describe(
    'Means over the training days: a deviation is the sum of coefficient times score less its mean',
  ),
  calibration: z
    .object({
      intercept: z.number().describe('Log odds'),
      slope: z.number().min(0).max(1).describe('Share of the deviation that is kept'),
    })
    .describe('logit P(up) = logit(baseRate) + intercept + slope * deviation'),
  trainingDigest: z.string().describe('Digest of everything that the fit could have read'),
  trials: COUNT.describe('Variants that were tried before this one was fixed'),
});

/** Interface, section 2.2: Basic, and everything that it rests on. */
export const PREMIUM_SIGNAL = z.object({
  ...ORACLE_SIGNAL.shape,
  marketContext: z.object({ fearGreed: FEAR_GREED, etfFlows7d: ETF_FLOWS }).describe('Public figures at signal time'),
  market_context: z
    .object({ btc_price: z.number().describe('BTC/USD at signal time'), fear_greed: FEAR_GREED, etf_flow_7d: ETF_FLOWS })
    .describe('The same in the other spelling'),
  accuracy: z
    .object({
      last30d: PROBABILITY.describe(
        'Share of right ones among the forecasts whose windows ended within 30 days; 0 where `n` is 0, which is no measurement',
      ),
      ...RECENT_COUNTS,
    })
    .describe('How often forecasts of this horizon were right lately'),
  categories: keyed(CATEGORY_NAMES, (key) => CATEGORY.describe(`The ${key} category`))
    .nullable()
    .describe('Scores by category; null when none were stored'),
  thresholds: THRESHOLDS.describe('Where BUY and SELL begin'),
  regimeDetail: z.object(REGIME_FIELDS).nullable().describe('The regime with its factors, as `GET /api/svc/regime` tells it'),
  quantiles: z
    .array(
      z.object({
        level: PROBABILITY.describe('Probability that the price ends below'),
        price: z.number().describe('BTC/USD at resolution, to the cent'),
      }),
    )
    .describe('Predictive distribution of the price at resolution, by rising level'),
  strikes: z.array(STRIKE).describe('Open strikes of prediction markets near the money; empty when none are seen'),
  predictionMarket: PREDICTION_MARKET.describe('The model against prediction markets, on the wagers of days that are over'),
  model: MODEL.nullable().describe('The fit that the forecast was made with'),
  scorecard: z
    .object({
      horizon: FORECAST_ID.horizon,
      summary: PUBLISHED_SUMMARY.describe('Counts, accuracy and what they are worth'),
      ...RECORD_DETAILS,
    })
    .describe('The record of the horizon'),
  missing: z
    .array(
      z.object({
        part: z.string().describe('A part of this answer that is null or empty'),
        reason: z.string().describe('Why'),
      }),
    )
    .describe('What could not be had right now; empty when nothing is missing'),
});
