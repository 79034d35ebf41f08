import { z } from 'zod';
import { TIME } from '../../platform/validation/fields.ts';
import { FORECAST_ID, FORECAST_STATE } from './forecast.ts';

const UNPAID = z.null().describe('Null: not part of a free abstention; a paid answer has it');

export const FREE_HOLD_SIGNAL = z.object({
  signal: z.literal('HOLD').describe('The oracle abstains'),
  direction: UNPAID,
  confidence: UNPAID,
  pUp: UNPAID,
  horizon: FORECAST_ID.horizon,
  date: FORECAST_ID.date,
  predictionId: FORECAST_ID.predictionId,
  windowOpensAt: FORECAST_STATE.windowOpensAt,
  resolvesAt: FORECAST_STATE.resolvesAt,
  nextSignalAt: TIME.nullable().describe('When the next forecast is due; null where the market data ends before'),
});
