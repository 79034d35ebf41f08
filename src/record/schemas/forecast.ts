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
  date: DATE.describe('The day that the forecast was made on, UTC'),
  predictionId: z.string().describe('Id of the forecast, `YYYY-MM-DD:<days>d`'),
  horizon: HORIZON.describe('Days from the opening of the outcome window to its end'),
  sequence: z.int().min(1).describe('Position in the record of this horizon: from 1, one a day, without gaps'),
};

export const FORECAST_STATE = {
  status: STATUS.describe(
    'PENDING until its outcome is on chain; HOLD abstained and is not scored; VOID was missed or committed too late, and never counts. A HOLD too is PENDING until it is over, also for a caller who may read it in `signal` before.',
  ),
  regime: REGIME.nullable().describe('Market regime when it was made; null when nothing was forecast'),
  modelVersion: z.string().nullable().describe('Version of the model; null when nothing was forecast'),
  windowOpensAt: TIME.describe('When the outcome window opens: the forecast is on chain before'),
  resolvesAt: TIME.describe('When the outcome window ends'),
  timestamp: TIME.describe('When the forecast was computed'),
  replayed: z.boolean().describe('True when the demonstration replayed a past day'),
  late: z.boolean().describe("True when the day's step ran after its time"),
  missed: z.boolean().describe('True when nothing was forecast before the window opened'),
};

/** Cut to the caller. */
export const FORECAST_VALUES = {
  signal: SIGNAL.nullable().describe('GATED until the outcome for callers below Basic; null when nothing was forecast'),
  direction: DIRECTION.nullable().describe('Expected direction; null while it is gated, or when nothing was forecast'),
  confidence: CONFIDENCE.nullable().describe('Calibrated probability of the direction as committed, 0.50 to 0.99; null while it is gated'),
  pUp: PROBABILITY.nullable().describe('Probability, as committed, that the close at resolution is higher; null while it is gated'),
  btcPrice: z.number().nullable().describe('BTC/USD at signal time; null when nothing was forecast'),
};

export const FORECAST_PRICES = {
  btcAtSignal: z
    .number()
    .nullable()
    .describe(
      'Daily close at window open, USD, which the outcome is measured from; before, the price at signal time (`provisional` is true then). Null where nothing was forecast and the window is not open',
    ),
  provisional: z
    .boolean()
    .describe('True while `btcAtSignal` is the price at signal time; false once it is the close at window open, which does not change'),
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
