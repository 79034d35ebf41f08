import { z } from 'zod';
import { DISTRIBUTION_SIZE } from '../../chain/eas/schemas.ts';
import { CENTRAL_SHARES } from '../../forecast/distribution.ts';
import { formatHorizonName, HORIZONS } from '../../forecast/model.ts';
import { MODEL_NAMES } from '../../forecast/models.ts';
import { MOVE_SIZES } from '../../forecast/move.ts';
import { REGIME_NAMES } from '../../forecast/regime.ts';
import { CONFIDENCE_RANGE } from '../../forecast/signal.ts';
import { BYTES32, COUNT, DATE, listOf, namedObject, objectOf, PROBABILITY, SUCCESS, TIME } from '../../platform/validation.ts';

export const HORIZON = z.enum(HORIZONS.map(formatHorizonName)).meta({ id: 'Horizon' });
export const REGIME = z.enum(REGIME_NAMES).meta({ id: 'Regime' });
export const DIRECTION = z.enum(['UP', 'DOWN']).meta({ id: 'Direction' });
/** A constant, free or paid. */
export const EVIDENCE_OF_DIRECTION = z.literal('none').describe('Evidence on recorded history that the direction has skill');

/** GATED: the caller may not read it yet. */
export const SIGNAL = z.enum(['BUY', 'SELL', 'HOLD', 'GATED']);
export const STATUS = z.enum(['PENDING', 'WIN', 'LOSS', 'HOLD', 'VOID']).meta({ id: 'ForecastStatus' });
export const OUTCOME = z.enum(['WIN', 'LOSS']).meta({ id: 'Outcome' });
export const CONFIDENCE = z.number().min(CONFIDENCE_RANGE.least).max(CONFIDENCE_RANGE.most);

export const FORECAST_ID = {
  date: DATE.describe('Day of the forecast, UTC'),
  predictionId: z.string().describe('Forecast id, `YYYY-MM-DD:<days>d`'),
  horizon: HORIZON.describe('Length of the outcome window in days'),
  sequence: z.int().min(1).describe('Position in the record of this horizon: from 1, one per day, without gaps'),
};

/** Public at once, of every forecast: P(up), which only shifts the distribution, is in none of it. */
export const MOVE = {
  moveSize: z
    .enum(MOVE_SIZES)
    .nullable()
    .describe('Width of the forecast among those of the last 730 days: its lowest, middle or highest third; null without a width')
    .meta({ id: 'MoveSize' }),
  pBig: PROBABILITY.nullable().describe(
    'P(big move), up or down: of 3 % in a day, of 5 % over 2, 3 and 7 days, around the median; null without a width',
  ),
};

export const MOVE_LIMITS = namedObject('MoveLimits', {
  modelVersion: z.string().describe('Fit whose committed distribution both are of'),
  bigMove: z.number().describe('Log return beyond which a move is big, either way: -ln(.97) at 1 day, -ln(.95) at 2, 3 and 7'),
  width80: z.number().describe('q90 less q10 of the log return'),
  width90: z.number().describe('q95 less q05 of the log return'),
  calmUpTo: z.number().describe('CALM where `width80` is at most this'),
  wildFrom: z.number().describe('WILD where `width80` is at least this'),
})
  .nullable()
  .describe('What `moveSize` and `pBig` follow from; after the reveal, with the opened quantiles, anyone recomputes them');

/** Of the width and the price of a forecast alone, like `PRICE_RANGE`. */
export const SIZING = namedObject('PositionSize', {
  riskPercent: z.number().describe('As asked: share of the account that is lost at the stop'),
  accountUsd: z.number().describe('As asked'),
  riskUsd: z.number().describe('Loss at the stop, USD'),
  stopPercentLong: z.number().describe('Distance of the stop below the entry, percent'),
  stopPercentShort: z.number().describe('Distance of the stop above it, percent'),
  positionUsdLong: z.number().describe('USD; not capped at the account'),
  positionUsdShort: z.number().describe('USD; not capped at the account'),
  positionBtcLong: z.number().describe('The same in BTC at `btcPrice`'),
  positionBtcShort: z.number().describe('The same in BTC at `btcPrice`'),
  leverageLong: z.number().describe('Position over account'),
  leverageShort: z.number().describe('Position over account'),
  exceedsAccount: z.boolean().describe('Whether a position is larger than the account'),
  formula: z.string().describe('How it is computed, from `moveLimits`'),
})
  .nullable()
  .optional()
  .describe('With `riskPercent` and `accountUsd`: stop and position for that loss, whichever direction; null without a width');

const MOVE_VERDICT = {
  moveVerdict: z.string().describe('What the record shows of `pBig`, against both references, as a sentence'),
};

/** Both with their limits, and what the record shows of them. */
export const MOVE_WITH_LIMITS = { ...MOVE, moveLimits: MOVE_LIMITS, ...MOVE_VERDICT };

export const FORECAST_STATE = {
  status: STATUS.describe(
    'PENDING until the outcome is on chain; HOLD, which is not scored, from the start for callers that may see `signal`, and PENDING for others until its window has ended; VOID was missed or committed too late, and never counts',
  ),
  regime: REGIME.nullable().describe('Market regime at signal time; null for a missed day'),
  modelVersion: z.string().nullable().describe('Model version; null for a missed day'),
  windowOpensAt: TIME.describe('Opening of the outcome window; the commitment is on chain before'),
  resolvesAt: TIME.describe('End of the outcome window'),
  timestamp: TIME.describe('Time of the forecast'),
  replayed: z.boolean().describe('True for a past day replayed by the demo'),
  late: z.boolean().describe('True when the signal step ran late'),
  missed: z.boolean().describe('True when nothing was forecast before the window opened'),
  ...MOVE,
};

export const FRESHNESS = {
  ageSeconds: COUNT.describe('Seconds since `timestamp`'),
  stale: z.boolean().describe('True when a newer forecast is overdue, or changes of the record may be missing'),
  missedSince: DATE.nullable().describe('First later day without a forecast; null when none was missed'),
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

export const INTERVAL = namedObject('Interval', {
  low: PROBABILITY.describe('Lower bound, 0 to 1'),
  high: PROBABILITY.describe('Upper bound, 0 to 1'),
});

export const TALLY = namedObject('Tally', {
  wins: COUNT.describe('Settled wagers that won'),
  losses: COUNT.describe('Settled wagers that lost'),
});

const NAME = z.enum(MODEL_NAMES).meta({ id: 'ModelName' });
const ROLE = z
  .enum(['champion', 'challenger'])
  .describe('`champion`: the service forecasts by it; `challenger`: it is compared with the champion')
  .meta({ id: 'ModelRole' });

const OPENING = z.object({
  name: NAME.describe('Name of the model version'),
  role: ROLE,
  modelVersion: z.string().describe('Its fit, as in the digest'),
  salt: BYTES32.describe('Salt that opens its digest in the metadata'),
  quantilesMicro: z
    .array(z.int())
    .length(DISTRIBUTION_SIZE)
    .describe('The committed quantiles, at .005 to .995, of the log return over the horizon, in millionths'),
});

const MOVE_SCORES = namedObject('MoveScores', {
  ...MOVE,
  big: z.boolean().describe('Whether the move was big: |`realised`| above `bigMove`'),
  references: objectOf('P(big move) of what it is compared with; null where the history is too short', {
    frequency: PROBABILITY.nullable().describe('Share of big moves in the last four years of training'),
    ewma: PROBABILITY.nullable().describe('By EWMA volatility, decay .94'),
    garch: PROBABILITY.nullable().describe('By GARCH(1,1)'),
  }),
})
  .nullable()
  .describe('Score of the size of the move; null without one');

/** The committed distributions of one resolved forecast. */
export const FORECAST_DISTRIBUTIONS = namedObject('ForecastDistributions', {
  predictionId: z.string().describe('Id of the forecast, `YYYY-MM-DD:<days>d`'),
  date: DATE.describe('Day of the forecast'),
  horizon: HORIZON.describe('Horizon'),
  sequence: COUNT.describe('Number of the forecast in its horizon'),
  attestationUid: BYTES32.describe('Uid of the prediction, whose `metadata` is the sha2-256 of the text below'),
  resolutionUid: BYTES32.describe('Uid of the resolution, from which on the distributions are public'),
  metadata: z.string().describe("The day's metadata as its exact text, with a digest of each distribution by horizon"),
  openings: z
    .array(OPENING)
    .describe('Each committed distribution with its salt, the champion first; empty for a day before they were committed'),
  missing: listOf('Model versions of the day without a distribution', {
    name: NAME.describe('Name of the model version'),
    role: ROLE,
    reason: z.string().describe('Why it has no distribution of the day'),
  }),
  realised: z
    .number()
    .nullable()
    .describe('Log return from the price at the forecast to the close of the resolution; null without distributions'),
  scores: listOf('Scores of each distribution', {
    name: NAME.describe('Name of the model version'),
    modelVersion: z.string().describe('Its fit'),
    crps: z.number().describe('Continuous ranked probability score, in units of the log return; lower is better'),
    logScore: z.number().describe('Negative logarithm of the density at the outcome; lower is better'),
    pit: PROBABILITY.describe('Probability of at most the outcome'),
    in50: z.boolean().describe('Whether the central 50 % range contains the outcome'),
    in80: z.boolean().describe('Whether the 80 % band, its quantiles 0.10 to 0.90, contains it'),
    in90: z.boolean().describe('Whether the central 90 % range contains it'),
  }),
  move: MOVE_SCORES,
  comparisons: listOf('Each version against the one before it', {
    challenger: NAME.describe('The later version'),
    against: NAME.describe('The version before it'),
    limit: z.number().describe('The most by which their CRPS can differ, known at commitment'),
    difference: z
      .number()
      .min(-1)
      .max(1)
      .describe('CRPS of `against` less that of `challenger`, in shares of `limit`: above 0 it was better'),
  }),
});

export type ForecastDistributions = z.input<typeof FORECAST_DISTRIBUTIONS>;

export const DISTRIBUTIONS = namedObject('Distributions', {
  success: SUCCESS,
  horizon: HORIZON.describe('Horizon of this response'),
  data: z.array(FORECAST_DISTRIBUTIONS).describe('Resolved forecasts, newest first'),
  count: COUNT.describe('Forecasts on this page'),
  nextCursor: z.string().nullable().describe('`before` of the next page; null on the last'),
});

export type DistributionsReply = z.input<typeof DISTRIBUTIONS>;

const CENTRAL_RANGE = z.object({
  share: z.literal([...CENTRAL_SHARES]).describe('Probability that the price at the end is within the range, by the model'),
  low: z.number().describe('Lower bound, BTC/USD: `btcPrice` * exp(-`halfWidth`)'),
  high: z.number().describe('Upper bound, BTC/USD: `btcPrice` * exp(`halfWidth`)'),
  halfWidth: z.number().min(0).describe('Half the distance between the bounding quantiles, log return, to 0.000001'),
});

/** The range of one forecast that its answer carries. */
export const PRICE_RANGE = CENTRAL_RANGE.omit({ halfWidth: true })
  .nullable()
  .describe('Central range of the price at `resolvesAt` around `btcPrice`, by the model: it has no direction; null without a stored width')
  .meta({ id: 'PriceRange' });

const RANGES = z
  .array(CENTRAL_RANGE)
  .describe(
    'Expected ranges of 50, 80 and 90 %: symmetric around `btcPrice`, so that they say nothing of the direction. `band80` of the scorecard differs: quantiles of the distribution itself',
  )
  .meta({ id: 'Ranges' });

const HORIZON_RANGES = z.object({
  horizon: HORIZON.describe('Length of the outcome window in days'),
  ranges: RANGES,
  ...MOVE,
  ...MOVE_VERDICT,
  resolvesAt: FORECAST_STATE.resolvesAt,
  attestedAt: TIME.nullable().describe('Block time of the commitment; null until it is on chain'),
});

export const EXPECTED_RANGE = namedObject('ExpectedRange', {
  success: SUCCESS,
  date: FORECAST_ID.date,
  horizon: HORIZON.describe('Length of the outcome window in days'),
  modelVersion: FORECAST_STATE.modelVersion,
  btcPrice: z.number().describe('BTC/USD at signal time, the centre of the ranges'),
  ranges: RANGES,
  ...MOVE_WITH_LIMITS,
  windowOpensAt: FORECAST_STATE.windowOpensAt,
  resolvesAt: FORECAST_STATE.resolvesAt,
  timestamp: FORECAST_STATE.timestamp,
  replayed: FORECAST_STATE.replayed,
  source: z.string().describe('Source of the market data, e.g. `live` or `simulated (seed 2)`'),
  horizons: z.array(HORIZON_RANGES).optional().describe('With `horizons=all`: the ranges of every horizon of that day, shortest first'),
});
