import { z } from 'zod';
import { FEAR_GREED_LABELS } from '../../market/series/fear-greed-label.ts';
import { BYTES32, SUCCESS, TIME } from '../../platform/validation/fields.ts';
import { DIRECTION, FORECAST_ID, FORECAST_STATE, FORECAST_VALUES, HORIZON, REGIME, SIGNAL } from './forecast.ts';

const SIGNAL_GATED = SIGNAL.describe('GATED until the outcome for callers below Basic; else BUY, SELL or HOLD');

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

export const PUBLIC_SIGNAL = z.object({
  ...COMMON,
  direction: DIRECTION.nullable().describe('Expected direction over the horizon; null while it is gated'),
  fearGreed: z.int().min(0).max(100).nullable().describe('Crypto Fear & Greed index at signal time; null without a recent value'),
  fearGreedLabel: z.enum(FEAR_GREED_LABELS).nullable().describe('Its label'),
  etfFlows7d: z
    .number()
    .nullable()
    .describe('Net flow into US spot Bitcoin ETFs over the previous 7 calendar days, USD; null without a figure'),
  horizon: HORIZON.describe('Length of the outcome window in days'),
  predictionId: FORECAST_ID.predictionId,
  status: FORECAST_STATE.status,
  windowOpensAt: FORECAST_STATE.windowOpensAt,
  resolvesAt: FORECAST_STATE.resolvesAt,
  attestationUid: BYTES32.nullable().describe('Uid of the committing attestation; null until it is on chain'),
});

export type PublicSignal = z.input<typeof PUBLIC_SIGNAL>;

/** The 7-day forecast in the flat legacy spelling. */
export const LEGACY_SIGNAL = z.object({
  ...COMMON,
  btc_price: z.number().describe('The same as `btcPrice`'),
  price: z.number().describe('The same as `btcPrice`'),
  horizon: z.literal('7d').describe('Always `7d`; the successor serves other horizons'),
  deprecated: z.literal(true).describe('Always true: use the successor'),
  successor: z.url().describe('URL of the successor'),
});

export type LegacySignal = z.input<typeof LEGACY_SIGNAL>;
