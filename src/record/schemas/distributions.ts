import { z } from 'zod';
import { DISTRIBUTION_SIZE } from '../../chain/eas/distribution-digest.ts';
import { MODEL_NAMES } from '../../forecast/models/registry.ts';
import { BYTES32, COUNT, DATE, PROBABILITY, SUCCESS } from '../../platform/validation/fields.ts';
import { HORIZON } from './forecast.ts';

const NAME = z.enum(MODEL_NAMES);
const ROLE = z
  .enum(['champion', 'challenger'])
  .describe('`champion`: the service forecasts by it; `challenger`: it is compared with the champion');

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

const MISSING = z.object({
  name: NAME.describe('Name of the model version'),
  role: ROLE,
  reason: z.string().describe('Why it has no distribution of the day'),
});

const SCORES = z.object({
  name: NAME.describe('Name of the model version'),
  modelVersion: z.string().describe('Its fit'),
  crps: z.number().describe('Continuous ranked probability score, in units of the log return; lower is better'),
  logScore: z.number().describe('Negative logarithm of the density at the outcome; lower is better'),
  pit: PROBABILITY.describe('Probability of at most the outcome'),
  in50: z.boolean().describe('Whether the central 50 % range contains the outcome'),
  in80: z.boolean().describe('Whether the central 80 % range contains it'),
  in90: z.boolean().describe('Whether the central 90 % range contains it'),
});

const COMPARISON = z.object({
  challenger: NAME.describe('The later version'),
  against: NAME.describe('The version before it'),
  limit: z.number().describe('The most by which their CRPS can differ, known at commitment'),
  difference: z
    .number()
    .min(-1)
    .max(1)
    .describe('CRPS of `against` less that of `challenger`, in shares of `limit`: above 0 it was better'),
});

/** The committed distributions of one resolved forecast. */
export const FORECAST_DISTRIBUTIONS = z.object({
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
  missing: z.array(MISSING).describe('Model versions of the day without a distribution'),
  realised: z
    .number()
    .nullable()
    .describe('Log return from the price at the forecast to the close of the resolution; null without distributions'),
  scores: z.array(SCORES).describe('Scores of each distribution'),
  comparisons: z.array(COMPARISON).describe('Each version against the one before it'),
});

export type ForecastDistributions = z.input<typeof FORECAST_DISTRIBUTIONS>;

export const DISTRIBUTIONS = z.object({
  success: SUCCESS,
  horizon: HORIZON.describe('Horizon of this response'),
  data: z.array(FORECAST_DISTRIBUTIONS).describe('Resolved forecasts, newest first'),
  count: COUNT.describe('Forecasts on this page'),
  nextCursor: z.string().nullable().describe('`before` of the next page; null on the last'),
});

export type DistributionsReply = z.input<typeof DISTRIBUTIONS>;
