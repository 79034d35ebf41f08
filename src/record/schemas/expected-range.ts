import { z } from 'zod';
import { CENTRAL_SHARES } from '../../forecast/central-range.ts';
import { SUCCESS, TIME } from '../../platform/validation/fields.ts';
import { FORECAST_ID, FORECAST_STATE, HORIZON } from './forecast.ts';

const CENTRAL_RANGE = z.object({
  share: z.literal([...CENTRAL_SHARES]).describe('Probability that the price at the end is within the range, by the model'),
  low: z.number().describe('Lower bound, BTC/USD: `btcPrice` * exp(-`halfWidth`)'),
  high: z.number().describe('Upper bound, BTC/USD: `btcPrice` * exp(`halfWidth`)'),
  halfWidth: z.number().min(0).describe('Half the distance between the bounding quantiles, log return, to 0.000001'),
});

/** The range of one forecast that its answer carries. */
export const PRICE_RANGE = CENTRAL_RANGE.omit({ halfWidth: true })
  .nullable()
  .describe('Central range of the price at `resolvesAt` around `btcPrice`, by the model: it has no direction; null without a stored width');

const RANGES = z.array(CENTRAL_RANGE).describe('Central ranges of 50, 80 and 90 %, which say nothing of the direction');

const HORIZON_RANGES = z.object({
  horizon: HORIZON.describe('Length of the outcome window in days'),
  ranges: RANGES,
  resolvesAt: FORECAST_STATE.resolvesAt,
  attestedAt: TIME.nullable().describe('Block time of the commitment; null until it is on chain'),
});

export const EXPECTED_RANGE = z.object({
  success: SUCCESS,
  date: FORECAST_ID.date,
  horizon: HORIZON.describe('Length of the outcome window in days'),
  modelVersion: FORECAST_STATE.modelVersion,
  btcPrice: z.number().describe('BTC/USD at signal time, the centre of the ranges'),
  ranges: RANGES,
  windowOpensAt: FORECAST_STATE.windowOpensAt,
  resolvesAt: FORECAST_STATE.resolvesAt,
  timestamp: FORECAST_STATE.timestamp,
  replayed: FORECAST_STATE.replayed,
  source: z.string().describe('Source of the market data, e.g. `live` or `simulated (seed 2)`'),
  horizons: z.array(HORIZON_RANGES).optional().describe('With `horizons=all`: the ranges of every horizon of that day, shortest first'),
});
