import { z } from 'zod';
import { TIERS } from '../../auth/caller.ts';
import { MODEL_INPUTS } from '../../forecast/model.ts';
import { FEAR_GREED_LABELS } from '../../forecast/regime.ts';
import { CATEGORY_NAMES } from '../../forecast/signal.ts';
import {
  ADDRESS,
  BYTES32,
  COUNT,
  DATE,
  keyedObject,
  listOf,
  namedObject,
  objectOf,
  PROBABILITY,
  SUCCESS,
  TIME,
} from '../../platform/validation.ts';
import {
  CONFIDENCE,
  DIRECTION,
  EVIDENCE_OF_DIRECTION,
  FORECAST_ID,
  FORECAST_STATE,
  FORECAST_VALUES,
  FRESHNESS,
  HORIZON,
  INTERVAL,
  MOVE_WITH_LIMITS,
  PRICE_RANGE,
  REGIME,
  SIGNAL,
  SIZING,
} from './forecast.ts';
import { REGIME_DETAIL, RISK_LEVEL, STRIKE } from './market-context.ts';
import { PREDICTION_MARKET, PUBLISHED_SUMMARY, RECORD_DETAILS, REVEALED_CALLS, SHARE } from './track-record.ts';

const SIGNAL_GATED = SIGNAL.describe('GATED until the outcome for callers below Basic; else BUY, SELL or HOLD').meta({ id: 'SignalGated' });

const PUBLIC_MEMBERS = {
  signal: SIGNAL_GATED,
  confidence: FORECAST_VALUES.confidence,
  btcPrice: z.number().describe('BTC/USD at signal time'),
  regime: REGIME.describe('Current market regime'),
  modelVersion: z.string().describe('Model version'),
  timestamp: TIME.describe('Time of the forecast'),
  source: z.string().describe('Source of the market data, e.g. `live` or `simulated (seed 2)`'),
  replayed: FORECAST_STATE.replayed,
};

const MODEL_VERSION = z.string().describe('The same as `modelVersion`');

/** What is public of every forecast, and of its market; values that the caller may not read are null. */
export const PUBLIC_FORECAST = {
  ...PUBLIC_MEMBERS,
  direction: DIRECTION.nullable().describe('Expected direction over the horizon; null while it is gated'),
  directionEvidence: EVIDENCE_OF_DIRECTION,
  directionNote: z.string().describe('What is known of the direction, and what has skill instead'),
  revealedCalls: REVEALED_CALLS.describe('Calls of the revealed days of this horizon'),
  fearGreed: z.int().min(0).max(100).nullable().describe('Crypto Fear & Greed index at signal time; null without a recent value'),
  fearGreedLabel: z.enum(FEAR_GREED_LABELS).nullable().describe('Its label'),
  etfFlows7d: z
    .number()
    .nullable()
    .describe('Net flow into US spot Bitcoin ETFs over the 7 calendar days that end with `etfFlows7dThrough`, USD; null without a figure'),
  etfFlows7dThrough: DATE.nullable().describe('Last of those days, the last reported one at signal time; null where it is not stored'),
  horizon: HORIZON.describe('Length of the outcome window in days'),
  predictionId: FORECAST_ID.predictionId,
  status: FORECAST_STATE.status,
  windowOpensAt: FORECAST_STATE.windowOpensAt,
  resolvesAt: FORECAST_STATE.resolvesAt,
  attestationUid: BYTES32.nullable().describe('Uid of the committing attestation; null until it is on chain'),
  ...MOVE_WITH_LIMITS,
};

/** Interface, section 2.1. */
export const PUBLIC_SIGNAL = namedObject('PublicSignal', { success: SUCCESS, ...PUBLIC_FORECAST, model_version: MODEL_VERSION });

export type PublicSignal = z.input<typeof PUBLIC_SIGNAL>;

/** The 7-day forecast in the flat legacy spelling. */
export const LEGACY_SIGNAL = namedObject('LegacySignal', {
  success: SUCCESS,
  ...PUBLIC_MEMBERS,
  model_version: MODEL_VERSION,
  btc_price: z.number().describe('The same as `btcPrice`'),
  price: z.number().describe('The same as `btcPrice`'),
  horizon: z.literal('7d').describe('Always `7d`; the successor serves other horizons'),
  deprecated: z.literal(true).describe('Always true: use the successor'),
  successor: z.url().describe('URL of the successor'),
});

const WORTH = {
  effectiveN: SHARE.effectiveN,
  independent: COUNT.describe('Forecasts left after removing overlapping windows: a count, not the evidence of all'),
};

const RECENT_COUNTS = {
  days: COUNT.describe('Look-back in days on the end of the outcome window'),
  n: COUNT.describe('Forecasts resolved as WIN or LOSS in that time; HOLD and VOID do not count'),
  wins: COUNT.describe('Wins among them'),
  ...WORTH,
  interval95: INTERVAL.nullable().describe('95 % Wilson interval of the share on `effectiveN` trials; null without any'),
};

const SKILL = namedObject('DirectionSkill', {
  verdict: z.string().describe("Verdict on the horizon's whole record, as a sentence"),
  scored: COUNT.describe('Forecasts resolved as WIN or LOSS'),
  ...WORTH,
  accuracy: PROBABILITY.nullable().describe('Share of wins, 0 to 1; null before the first'),
  interval95: INTERVAL.nullable().describe(
    '95 % Wilson interval on `effectiveN` trials, the headline interval: `accuracyInterval95` of the scorecard; null before the first',
  ),
  alwaysUpAccuracy: PROBABILITY.nullable().describe('Accuracy of always saying UP, 0 to 1; null before the first'),
});

const OPENING = namedObject('CommitmentOpening', {
  salt: BYTES32.describe('As `salt`'),
  signal: z.int().min(0).max(2).describe('HOLD 0, BUY 1, SELL 2'),
  direction: z.int().min(1).max(2).describe('UP 1, DOWN 2'),
  confidenceBps: z.int().describe('`confidence` in basis points'),
  pUpBps: z.int().describe('`pUp` in basis points'),
  btcPriceCents: z.int().describe('`btcPrice` in US cents'),
});

export const READABLE_VALUES = {
  confidence: CONFIDENCE.describe('Calibrated probability of the direction as committed, 0.50 to 0.99, four digits'),
  direction: DIRECTION.describe('Expected direction over the horizon'),
  pUp: PROBABILITY.describe('P(up) as committed: probability that the close at resolution is above the close at window open, four digits'),
  btcPrice: z.number().describe('BTC/USD at signal time'),
  regime: REGIME.describe('Market regime at signal time'),
  modelVersion: z.string().describe('Model version'),
};

export const PROOF = {
  commitment: BYTES32.describe('Commitment on chain since before the window opened'),
  salt: BYTES32.describe('Salt of the commitment'),
  attestationUid: BYTES32.nullable().describe('Uid of the committing attestation; null until it is on chain'),
  txHash: BYTES32.nullable().describe('Transaction of that attestation; null until it is on chain'),
  verifyUrl: z.url().nullable().describe('URL where the service verifies the attestation field by field; null until it is on chain'),
};

const ACCESS = namedObject('Access', {
  tier: z.enum(TIERS).describe('Tier of the caller'),
  wallet: ADDRESS.nullable().describe('Wallet that logged in; null for a payer'),
  requirement: z.string().describe('Access requirement of this resource'),
});

const { venue, marketId, question, strikeUsd, expiresAt, bid, ask, yesPrice, bids, asks } = STRIKE.shape;
const { atTheMoney, madeByService, url, observedAt, stale } = STRIKE.shape;

const PRICED_STRIKE = namedObject('Strike', {
  ...{ venue, marketId, question, strike: strikeUsd, expiresAt, bid, ask, yesPrice, bids, asks },
  modelProbability: PROBABILITY.nullable().describe('P(price above the strike at expiry) by this forecast, 0 to 1; null without its model'),
  difference: z.number().nullable().describe('`modelProbability` less `yesPrice`'),
  ...{ atTheMoney, madeByService, url, observedAt, stale },
});

/** The newest forecast of a horizon with its proof. */
export const BASIC_FORECAST = {
  signal: z.enum(['BUY', 'SELL', 'HOLD']).describe('HOLD where P(up) is too close to one half for the regime'),
  ...READABLE_VALUES,
  directionEvidence: EVIDENCE_OF_DIRECTION,
  horizon: FORECAST_ID.horizon,
  timestamp: FORECAST_STATE.timestamp,
  accuracyOfLast7Days: PROBABILITY.nullable().describe(
    'Share of wins, 0 to 1, among forecasts of this horizon whose windows ended within the last 7 days; null without any',
  ),
  accuracy7d: z
    .object({ ...RECENT_COUNTS, accuracy: PROBABILITY.nullable().describe('The same as `accuracyOfLast7Days`') })
    .meta({ id: 'RecentAccuracy' })
    .describe('Basis of `accuracyOfLast7Days`'),
  skill: SKILL.describe('Evidence behind the confidence'),
  predictionId: FORECAST_ID.predictionId,
  date: FORECAST_ID.date,
  sequence: FORECAST_ID.sequence,
  status: FORECAST_STATE.status,
  windowOpensAt: FORECAST_STATE.windowOpensAt,
  resolvesAt: FORECAST_STATE.resolvesAt,
  ...PROOF,
  attestedAt: TIME.nullable().describe('Block time of the attestation; null until it is on chain'),
  opening: OPENING.describe('Preimage of the commitment, as encoded numbers'),
  formula: z.string().describe('Formula of the commitment over `opening`, in this order'),
  ...FRESHNESS,
  nextSignalAt: TIME.nullable().describe('Due time of the next forecast; null when the market data ends before it'),
  replayed: FORECAST_STATE.replayed,
  late: FORECAST_STATE.late,
  source: z.string().describe('Source of the market data, e.g. `live` or `simulated (seed 2)`'),
  range: PRICE_RANGE,
  ...MOVE_WITH_LIMITS,
  differences: z
    .array(PRICED_STRIKE)
    .describe(
      'At most 5 open strikes that expire within 8 days and whose price is 0.05 or more from `modelProbability`, the largest difference first',
    ),
};

/** Interface, section 2.2. */
export const ORACLE_SIGNAL = namedObject('OracleSignal', {
  success: SUCCESS,
  ...BASIC_FORECAST,
  model_version: MODEL_VERSION,
  accuracy_7d: PROBABILITY.nullable().describe('Legacy name of `accuracyOfLast7Days`: 7d is the look-back, not the horizon'),
  access: ACCESS.describe("The caller's access and the requirement"),
});

const CATEGORY = namedObject('SignalCategory', {
  signal: z.enum(['BUY', 'SELL', 'HOLD']).describe('BUY from 0.2, SELL from -0.2 down'),
  score: z.number().min(-1).max(1).describe('-1 to 1; 0 when no input was available'),
});

const FEAR_GREED = z.int().min(0).max(100).nullable().describe('Fear & Greed index at signal time, 0 to 100; null when none was recent');
const ETF_FLOWS = z
  .number()
  .nullable()
  .describe('Net flow into US spot Bitcoin ETFs over the previous 7 calendar days, USD; null when none has a figure');

const THETA = z.number().describe('Distance of P(up) from one half at which BUY or SELL begins');

const THRESHOLDS = namedObject('Thresholds', {
  regime: REGIME.describe('Regime that determines them'),
  theta: THETA,
  buyFrom: PROBABILITY.describe('BUY where P(up) is at least this'),
  sellUpTo: PROBABILITY.describe('SELL where P(up) is at most this'),
  regimes: listOf('Thresholds of all regimes', {
    regime: REGIME.describe('A regime'),
    theta: THETA,
    riskLevel: RISK_LEVEL.describe('Risk level'),
    daysToEnter: COUNT.describe('Consecutive days that its rule must hold before it begins'),
  }),
});

const MODEL = namedObject('Model', {
  version: z.string().describe('Version: method and first day of the block that the fit serves'),
  method: z.string().describe('Name of the method'),
  trainFrom: DATE.describe('First training day'),
  trainTo: DATE.describe('Last training day'),
  trainingDays: COUNT.describe('Number of training days'),
  baseRate: PROBABILITY.describe('Shrunk share of rises in training'),
  climatology: PROBABILITY.describe('Base rate stored with the forecast, its benchmark'),
  coefficients: keyedObject(['intercept', ...MODEL_INPUTS], (key) =>
    z.number().describe(key === 'intercept' ? 'Log odds' : `Log odds per unit of the ${key} score`),
  ).describe('Coefficients of the logistic regression'),
  inputMeans: keyedObject(MODEL_INPUTS, (key) => z.number().describe(`Mean of the ${key} score`)).describe(
    'Training means: the deviation is the sum of coefficient times (score less mean)',
  ),
  calibration: objectOf('logit P(up) = logit(baseRate) + intercept + slope * deviation', {
    intercept: z.number().describe('Log odds'),
    slope: z.number().min(0).max(1).describe('Retained share of the deviation'),
  }),
  trainingDigest: z.string().describe('Digest of all data available to the fit'),
  trials: COUNT.describe('Model variants tried before this one'),
});

/** What a premium answer has beside the forecast. */
export const PREMIUM_EVIDENCE = z.object({
  marketContext: objectOf('Public figures at signal time', {
    fearGreed: FEAR_GREED,
    etfFlows7d: ETF_FLOWS,
    etfFlows7dThrough: PUBLIC_FORECAST.etfFlows7dThrough,
  }),
  accuracy: objectOf('Recent hit rate of this horizon', {
    last30d: PROBABILITY.describe('Hit rate of forecasts whose windows ended within 30 days; 0, not a measurement, where `n` is 0'),
    ...RECENT_COUNTS,
  }).meta({ id: 'RecentHitRate' }),
  categories: keyedObject(CATEGORY_NAMES, (key) => CATEGORY.describe(`The ${key} category`))
    .meta({ id: 'SignalCategories' })
    .nullable()
    .describe('Scores by category; null when none were stored'),
  thresholds: THRESHOLDS.describe('Thresholds of BUY and SELL'),
  regimeDetail: REGIME_DETAIL.nullable().describe('Regime with its factors, as in `GET /api/svc/regime`'),
  quantiles: listOf('Predictive quantiles of the price at resolution, ascending', {
    level: PROBABILITY.describe('P(price ends below)'),
    price: z.number().describe('BTC/USD at resolution, to the cent'),
  }).meta({ id: 'Quantiles' }),
  strikes: z.array(PRICED_STRIKE).describe('Open prediction-market strikes near the money; empty when none are known'),
  predictionMarket: PREDICTION_MARKET.describe('Model against prediction markets, on settled wagers'),
  model: MODEL.nullable().describe('Fitted model of the forecast'),
  scorecard: objectOf('Record of the horizon', {
    horizon: FORECAST_ID.horizon,
    summary: PUBLISHED_SUMMARY.describe('Counts, accuracy and their significance'),
    ...RECORD_DETAILS,
  }).meta({ id: 'HorizonRecord' }),
  missing: listOf('Unavailable parts; empty when nothing is missing', {
    part: z.string().describe('Null or empty part of this answer'),
    reason: z.string().describe('Why'),
  }),
});

export type PremiumEvidence = z.input<typeof PREMIUM_EVIDENCE>;

/** Interface, section 2.2. */
export const PREMIUM_SIGNAL = namedObject('PremiumSignal', {
  ...ORACLE_SIGNAL.shape,
  ...PREMIUM_EVIDENCE.shape,
  market_context: objectOf('The same in snake case', {
    btc_price: z.number().describe('BTC/USD at signal time'),
    fear_greed: FEAR_GREED,
    etf_flow_7d: ETF_FLOWS,
  }),
});

/** The answer of the prediction skill: the whole forecast, and with `detail: premium` its context. */
export const PREDICTION = z
  .object({ ...BASIC_FORECAST, sizing: SIZING, ...PREMIUM_EVIDENCE.partial().shape })
  .meta({ id: 'Prediction', description: 'A forecast with the opening of its commitment' });

/** The same for those who may not read it, and with `detail: public`. */
export const PUBLIC_PREDICTION = namedObject('PublicPrediction', {
  ...PUBLIC_FORECAST,
  date: FORECAST_ID.date,
  pUp: FORECAST_VALUES.pUp,
  skill: SKILL.describe('The record of this horizon'),
  range: PRICE_RANGE,
  sizing: SIZING,
});
