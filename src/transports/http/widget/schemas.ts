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

export const OEMBED = z.object({
  type: z.literal('rich').describe('Resource type of oEmbed'),
  version: z.literal('1.0').describe('Version of oEmbed'),
  title: z.string().describe('Title of the frame, e.g. `Bitcoin forecast, 7 days`'),
  provider_name: z.string().describe('Name of the service'),
  provider_url: z.string().describe('Address of the dashboard'),
  cache_age: z.int().describe('Seconds for which this answer may be kept'),
  width: z.int().describe('Width of the frame in pixels, at most `maxwidth`'),
  height: z.int().describe('Height of the frame in pixels, at most `maxheight`'),
  html: z.string().describe('An iframe with the card'),
});
