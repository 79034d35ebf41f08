import { z } from 'zod';
import { TIERS } from '../../auth/caller.ts';
import { ADDRESS, BYTES32, COUNT, DATE, PROBABILITY, SUCCESS, TIME } from '../../platform/validation/fields.ts';
import { SHARE } from './breakdown.ts';
import { CONFIDENCE, DIRECTION, FORECAST_ID, FORECAST_STATE, INTERVAL, REGIME } from './forecast.ts';

const WORTH = {
  effectiveN: SHARE.effectiveN,
  independent: COUNT.describe('How many of them are left on windows that do not overlap: a count, and not what all of them are worth'),
};

export const RECENT_COUNTS = {
  days: COUNT.describe('How many days back the end of an outcome window may lie'),
  n: COUNT.describe('Forecasts resolved as WIN or LOSS in that time; HOLD and VOID do not count'),
  wins: COUNT.describe('Those of them that were right'),
  ...WORTH,
  interval95: INTERVAL.nullable().describe('95 % Wilson interval of the share on `effectiveN` trials; null without any'),
};

const SKILL = z.object({
  verdict: z.string().describe('What the whole record of the horizon amounts to, in words'),
  scored: COUNT.describe('Forecasts resolved as WIN or LOSS'),
  ...WORTH,
  accuracy: PROBABILITY.nullable().describe('Share of wins, 0 to 1; null before the first'),
  interval95: INTERVAL.nullable().describe(
    'The 95 % interval of it that is told first everywhere, `accuracyInterval95` of the scorecard: Wilson, on `effectiveN` trials; null before the first',
  ),
  alwaysUpAccuracy: PROBABILITY.nullable().describe('What always saying UP would have scored, 0 to 1; null before the first'),
});

const OPENING = z.object({
  salt: BYTES32.describe('As `salt`'),
  signal: z.int().min(0).max(2).describe('HOLD 0, BUY 1, SELL 2'),
  direction: z.int().min(1).max(2).describe('UP 1, DOWN 2'),
  confidenceBps: z.int().describe('`confidence` in basis points'),
  pUpBps: z.int().describe('`pUp` in basis points'),
  btcPriceCents: z.int().describe('`btcPrice` in US cents'),
});

export const FRESHNESS = {
  ageSeconds: COUNT.describe('Seconds since `timestamp`'),
  stale: z.boolean().describe('True when a newer one is overdue: this one is told in its place'),
  missedSince: DATE.nullable().describe('First day after it on which nothing was forecast; null when none was missed'),
};

/** For callers that may read them. */
export const READABLE_VALUES = {
  confidence: CONFIDENCE.describe('Calibrated probability of the direction as committed, 0.50 to 0.99, four digits'),
  direction: DIRECTION.describe('Expected direction over the horizon'),
  pUp: PROBABILITY.describe('Probability, as committed, that the close at resolution is above the close at window open, four digits'),
  btcPrice: z.number().describe('BTC/USD at signal time'),
  regime: REGIME.describe('Market regime at signal time'),
  modelVersion: z.string().describe('Version of the model'),
};

export const PROOF = {
  commitment: BYTES32.describe('What the chain has held of the values since before the window opened'),
  salt: BYTES32.describe('What the values were hidden with'),
  attestationUid: BYTES32.nullable().describe('Uid of the attestation that commits to it; null until it is on chain'),
  txHash: BYTES32.nullable().describe('Transaction of that attestation; null until it is on chain'),
  verifyUrl: z.url().nullable().describe('Where the service checks the attestation field by field; null until it is on chain'),
};

export const ACCESS = z.object({
  tier: z.enum(TIERS).describe('Tier of the caller'),
  wallet: ADDRESS.nullable().describe('Wallet that logged in; null for a caller who pays instead'),
  requirement: z.string().describe('What this resource asks for'),
});

/** Interface, section 2.2. */
export const ORACLE_SIGNAL = z.object({
  success: SUCCESS,
  signal: z.enum(['BUY', 'SELL', 'HOLD']).describe('HOLD where P(up) is too near to one half for the regime'),
  ...READABLE_VALUES,
  model_version: z.string().describe('The same as `modelVersion`'),
  horizon: FORECAST_ID.horizon,
  timestamp: FORECAST_STATE.timestamp,
  accuracy_7d: PROBABILITY.nullable().describe(
    'The same as `accuracyOfLast7Days`. The name is kept for compatibility: 7d is how far back outcomes count, and not the horizon',
  ),
  accuracyOfLast7Days: PROBABILITY.nullable().describe(
    'Share of right ones, 0 to 1, among the forecasts of this horizon whose windows ended within the last 7 days; null without any',
  ),
  accuracy7d: z
    .object({ ...RECENT_COUNTS, accuracy: PROBABILITY.nullable().describe('The same as `accuracy_7d`') })
    .describe('What `accuracy_7d` rests on'),
  access: ACCESS.describe('Who asks, and what is asked for'),
  skill: SKILL.describe('How far a confidence has been borne out'),
  predictionId: FORECAST_ID.predictionId,
  date: FORECAST_ID.date,
  sequence: FORECAST_ID.sequence,
  status: FORECAST_STATE.status,
  windowOpensAt: FORECAST_STATE.windowOpensAt,
  resolvesAt: FORECAST_STATE.resolvesAt,
  ...PROOF,
  attestedAt: TIME.nullable().describe('Block time of the attestation; null until it is on chain'),
  opening: OPENING.describe('What the commitment is recomputed from, as the numbers that are encoded'),
  formula: z.string().describe('How the commitment is made of `opening`, in this order'),
  ...FRESHNESS,
  nextSignalAt: TIME.nullable().describe('When the next forecast is due; null where the market data ends before: nothing is forecast then'),
  replayed: FORECAST_STATE.replayed,
  late: FORECAST_STATE.late,
  source: z.string().describe('Where the market data comes from, e.g. `live` or `simulated (seed 2)`'),
});
