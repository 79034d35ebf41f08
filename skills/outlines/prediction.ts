import { z } from 'zod';
import { DATE, TIME } from '../../src/platform/validation/fields.ts';
import { CONFIDENCE, DIRECTION, HORIZON, INTERVAL, REGIME, SIGNAL, STATUS } from '../../src/record/schemas/forecast.ts';
import type { Outline } from './outline.ts';

const SHARE = z.number().nullable();
const BOUNDS = z.object(INTERVAL.shape).nullable();

/** Members that the forecast and its public part have in common. */
export const PREDICTION_MEMBERS = {
  signal: SIGNAL.describe('GATED: hidden from this caller until its outcome; HOLD: P(up) is too close to one half'),
  direction: DIRECTION.nullable().describe('Null while GATED'),
  confidence: CONFIDENCE.nullable().describe('Probability of the direction; null while GATED'),
  pUp: SHARE.describe('P(up); null while GATED'),
  horizon: HORIZON,
  date: DATE.describe('Day of the forecast, UTC'),
  predictionId: z.string(),
  status: STATUS.describe('PENDING until the outcome is on chain'),
  btcPrice: z.number().describe('BTC/USD at signal time'),
  regime: REGIME,
  windowOpensAt: TIME,
  resolvesAt: TIME.describe('End of the outcome window; the outcome and, with it, the forecast become public after it'),
  attestationUid: z.string().nullable().describe('Of the commitment; null until it is on chain'),
  skill: z
    .object({
      verdict: z.string(),
      scored: z.int(),
      effectiveN: z.number().describe('Independent calls that the scored ones are worth'),
      accuracy: SHARE,
      interval95: BOUNDS,
      alwaysUpAccuracy: SHARE,
    })
    .describe('The whole record of the horizon'),
  replayed: z.boolean().describe('Made after the fact, by a demonstration'),
  source: z.string().describe('Of the market data; `simulated` is no real market'),
};

/** Central range of the price at `resolvesAt`. */
export const OUTLINED_RANGE = z
  .object({ share: z.number(), low: z.number(), high: z.number() })
  .describe('Central range of the price at `resolvesAt`, BTC/USD, by the model: it has no direction');

export const PREDICTION_OUTLINE: Outline = {
  schema: z.object({ ...PREDICTION_MEMBERS, range: OUTLINED_RANGE.nullable(), stale: z.boolean().describe('A newer forecast is overdue') }),
};
