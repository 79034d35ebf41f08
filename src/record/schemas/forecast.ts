import { z } from 'zod';
import { formatHorizonName, HORIZONS } from '../../forecast/model.ts';
import { REGIME_NAMES } from '../../forecast/regime/regime.ts';
import { CONFIDENCE_RANGE } from '../../forecast/signal.ts';
import { COUNT, DATE, PROBABILITY, TIME } from '../../platform/validation/fields.ts';

export const HORIZON = z.enum(HORIZONS.map(formatHorizonName));
export const REGIME = z.enum(REGIME_NAMES);
export const DIRECTION = z.enum(['UP', 'DOWN']);

/** GATED: the caller may not read it yet. */
export const SIGNAL = z.enum(['BUY', 'SELL', 'HOLD', 'GATED']);
export const STATUS = z.enum(['PENDING', 'WIN', 'LOSS', 'HOLD', 'VOID']);
export const OUTCOME = z.enum(['WIN', 'LOSS']);
export const CONFIDENCE = z.number().min(CONFIDENCE_RANGE.least).max(CONFIDENCE_RANGE.most);

export const FORECAST_ID = {
  date: DATE.describe('Day of the forecast, UTC'),
  predictionId: z.string().describe('Forecast id, `YYYY-MM-DD:<days>d`'),
  horizon: HORIZON.describe('Length of the outcome window in days'),
  sequence: z.int().min(1).describe('Position in the record of this horizon: from 1, one per day, without gaps'),
};

export const FORECAST_STATE = {
  status: STATUS.describe(
    'PENDING until the outcome is on chain, HOLD included, even for callers that already see it in `signal`; HOLD abstained and is not scored; VOID was missed or committed too late, and never counts',
  ),
  regime: REGIME.nullable().describe('Market regime at signal time; null for a missed day'),
  modelVersion: z.string().nullable().describe('Model version; null for a missed day'),
  windowOpensAt: TIME.describe('Opening of the outcome window; the commitment is on chain before'),
  resolvesAt: TIME.describe('End of the outcome window'),
  timestamp: TIME.describe('Time of the forecast'),
  replayed: z.boolean().describe('True for a past day replayed by the demo'),
  late: z.boolean().describe('True when the signal step ran late'),
  missed: z.boolean().describe('True when nothing was forecast before the window opened'),
};

export const FORECAST_VALUES = {
  signal: SIGNAL.nullable().describe('GATED until the outcome for callers below Basic; null for a missed day'),
  direction: DIRECTION.nullable().describe('Expected direction; null while gated, and for a missed day'),
  confidence: CONFIDENCE.nullable().describe('Calibrated probability of the direction as committed, 0.50 to 0.99; null while gated'),
  pUp: PROBABILITY.nullable().describe('P(up) as committed: probability that the close at resolution is higher; null while gated'),
  btcPrice: z.number().nullable().describe('BTC/USD at signal time; null for a missed day'),
};

export const FORECAST_PRICES = {
  btcAtSignal: z
    .number()
    .nullable()
    .describe(
      'Daily close at window open, USD, from which the outcome is measured; before it, the price at signal time (`provisional`). Null for a missed day before its window opens',
    ),
  provisional: z
    .boolean()
    .describe('True while `btcAtSignal` is the price at signal time; false once it is the final close at window open'),
  btcAtResolution: z.number().nullable().describe('Daily close at resolution, USD; null until the outcome is on chain'),
  resolved: z.boolean().describe('True once the outcome is on chain'),
  returnBps: z.int().nullable().describe('Return over the window in basis points; null until the outcome is on chain'),
  resolvedAt: TIME.nullable().describe('Block time of the resolution; null until the outcome is on chain'),
};

export const INTERVAL = z.object({
  low: PROBABILITY.describe('Lower bound, 0 to 1'),
  high: PROBABILITY.describe('Upper bound, 0 to 1'),
});

export const TALLY = z.object({
  wins: COUNT.describe('Settled wagers that won'),
  losses: COUNT.describe('Settled wagers that lost'),
});
