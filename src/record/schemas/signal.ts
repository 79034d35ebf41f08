import { z } from 'zod';
import { TIERS } from '../../auth/caller.ts';
import { FEAR_GREED_LABELS } from '../../forecast/regime.ts';
import { ADDRESS, BYTES32, COUNT, DATE, namedObject, PROBABILITY, SUCCESS, TIME } from '../../platform/validation.ts';
import {
  CONFIDENCE,
  DIRECTION,
  EVIDENCE_OF_DIRECTION,
  FORECAST_ID,
  FORECAST_STATE,
  FORECAST_VALUES,
  HORIZON,
  INTERVAL,
  REGIME,
  SIGNAL,
} from './forecast.ts';
import { REVEALED_CALLS, SHARE } from './track-record.ts';

const SIGNAL_GATED = SIGNAL.describe('GATED until the outcome for callers below Basic; else BUY, SELL or HOLD').meta({ id: 'SignalGated' });

const COMMON = {
  success: SUCCESS,
  signal: SIGNAL_GATED,
  confidence: FORECAST_VALUES.confidence,
  btcPrice: z.number().describe('BTC/USD at signal time'),
  regime: REGIME.describe('Current market regime'),
  modelVersion: z.string().describe('Model version'),
  model_version: z.string().describe('The same as `modelVersion`'),
  timestamp: TIME.describe('Time of the forecast'),
  source: z.string().describe('Source of the market data, e.g. `live` or `simulated (seed 2)`'),
  replayed: FORECAST_STATE.replayed,
};

export const PUBLIC_SIGNAL = namedObject('PublicSignal', {
  ...COMMON,
  direction: DIRECTION.nullable().describe('Expected direction over the horizon; null while it is gated'),
  directionEvidence: EVIDENCE_OF_DIRECTION,
  directionNote: z.string().describe('What is known of the direction, and what has skill instead'),
  revealedCalls: z.object(REVEALED_CALLS).describe('Calls of the newest revealed days of this horizon'),
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
});

export type PublicSignal = z.input<typeof PUBLIC_SIGNAL>;

/** The 7-day forecast in the flat legacy spelling. */
export const LEGACY_SIGNAL = namedObject('LegacySignal', {
  ...COMMON,
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

export const RECENT_COUNTS = {
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

export const FRESHNESS = {
  ageSeconds: COUNT.describe('Seconds since `timestamp`'),
  stale: z.boolean().describe('True when a newer forecast is overdue and this one is returned in its place'),
  missedSince: DATE.nullable().describe('First later day without a forecast; null when none was missed'),
};

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

export const ORACLE_SIGNAL = namedObject('OracleSignal', {
  success: SUCCESS,
  signal: z.enum(['BUY', 'SELL', 'HOLD']).describe('HOLD where P(up) is too close to one half for the regime'),
  ...READABLE_VALUES,
  directionEvidence: EVIDENCE_OF_DIRECTION,
  model_version: z.string().describe('The same as `modelVersion`'),
  horizon: FORECAST_ID.horizon,
  timestamp: FORECAST_STATE.timestamp,
  accuracy_7d: PROBABILITY.nullable().describe('Legacy name of `accuracyOfLast7Days`: 7d is the look-back, not the horizon'),
  accuracyOfLast7Days: PROBABILITY.nullable().describe(
    'Share of wins, 0 to 1, among forecasts of this horizon whose windows ended within the last 7 days; null without any',
  ),
  accuracy7d: z
    .object({ ...RECENT_COUNTS, accuracy: PROBABILITY.nullable().describe('The same as `accuracy_7d`') })
    .meta({ id: 'RecentAccuracy' })
    .describe('Basis of `accuracy_7d`'),
  access: ACCESS.describe("The caller's access and the requirement"),
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
});
