import { z } from 'zod';
import { SUCCESS, TIME } from '../../../platform/validation/fields.ts';
import { CONFIDENCE, FORECAST_STATE, HORIZON, SIGNAL } from '../../../record/schemas/forecast.ts';

export const WIDGET = z.object({
  success: SUCCESS,
  signal: SIGNAL.describe('GATED until the outcome for callers below Basic; else BUY, SELL or HOLD'),
  confidence: CONFIDENCE.nullable().describe('Calibrated probability of the direction as committed, 0.50 to 0.99; null while gated'),
  horizon: HORIZON.describe('Days from the opening of the outcome window to its end'),
  timestamp: TIME.describe('When the forecast was computed'),
  replayed: FORECAST_STATE.replayed,
  source: z.string().describe('Market data source, e.g. `live` or `simulated (seed 2)`'),
});
