import { z } from 'zod';
import { MODEL_INPUTS } from '../../../../forecast/model.ts';
import { MODEL_NAMES } from '../../../../forecast/models/registry.ts';
import { RISK_LEVELS } from '../../../../forecast/regime/regime.ts';
import { SERIES_IDS } from '../../../../market/series/series.ts';
import { keyedObject, listOf, objectOf } from '../../../../platform/validation/described.ts';
import { BYTES32, COUNT, DATE, PROBABILITY, TIME } from '../../../../platform/validation/fields.ts';
import { HORIZON, REGIME } from '../../../../record/schemas/forecast.ts';

const SCORE = z.enum(MODEL_INPUTS);

const byScore = (what: string) => keyedObject(MODEL_INPUTS, (name) => z.number().describe(`${what} ${name}`));

const CALIBRATION = z.object({
  intercept: z.number().describe('Added to the log odds'),
  slope: z.number().min(0).max(1).describe('Multiplier of the log odds of the scores'),
  lowest: PROBABILITY.describe('Lowest P(up) of this fit for any scores in -1 to 1'),
  highest: PROBABILITY.describe('Highest P(up) of this fit'),
});

const FIT = z.object({
  horizon: HORIZON.describe('Horizon of this fit'),
  trainedFrom: DATE.describe('First training day'),
  trainedTo: DATE.describe('Last training day, its outcome included'),
  trainingDays: COUNT.describe('Number of training days'),
  baseRate: PROBABILITY.describe('Shrunk share of rises in training, 0 to 1: the benchmark of the forecast'),
  coefficients: byScore('Log odds per unit of').describe('Regression coefficients'),
  inputMeans: byScore('Training mean of').describe('Training means of the scores'),
  calibration: CALIBRATION.nullable().describe(
    'logit P(up) = logit(baseRate) + intercept + slope * sum of coefficient * (score - mean). Null below Basic: it would reveal the direction of unresolved forecasts',
  ),
});

const FITTED = z.object({
  version: z.string().describe('Model version of the newest forecast'),
  fittedAt: TIME.describe('When it was fitted'),
  horizons: z.array(FIT).describe('One fit per horizon'),
  trainingDigest: BYTES32.describe('Digest of all data available to the fit'),
  coefficientsDigest: BYTES32.describe('sha2-256 of the canonical JSON (RFC 8785) of all coefficients'),
});

const INPUT = z.object({
  series: z.enum(SERIES_IDS).describe('What it is'),
  title: z.string().describe('Its name'),
  unit: z.string().describe('Unit'),
  lagDays: COUNT.describe('Minimum age of values that a forecast reads, days'),
  staleDays: COUNT.describe('Maximum age of a value, days; older ones are masked'),
  enters: z.array(SCORE).describe('Scores that use it'),
  source: z.string().describe('Current source'),
  licences: listOf('Licences of all providers, the primary first', {
    of: z.string().describe('Data owner'),
    licence: z.string().describe('Terms of use, as far as known'),
  }),
});

const REGIME_ROW = z.object({
  regime: REGIME.describe('Name'),
  rule: z.string().describe('Condition; rules apply in this order, the first match wins'),
  daysToEnter: COUNT.describe('Consecutive days the rule must hold before the regime changes'),
  theta: PROBABILITY.describe('Distance of P(up) from one half for BUY or SELL'),
  riskLevel: z.enum(RISK_LEVELS).describe('Market risk'),
});

const LINES = z.array(z.string());

const VERSION = z.object({
  name: z.enum(MODEL_NAMES).describe('Name of the version'),
  title: z.string().describe('What sets its distribution apart'),
  role: z
    .enum(['champion', 'challenger'])
    .nullable()
    .describe(
      '`champion`: the newest forecast is by it; `challenger`: it is committed and scored beside it; null before the first forecast',
    ),
  distributionTrials: COUNT.describe('Distributions tried until it was fixed, those of the versions before it included'),
  reads: LINES.describe('Data behind its distributions'),
  method: LINES.describe('Steps from P(up), which all versions share, to its distribution'),
  findings: LINES.describe('What it gains on history, where it does not, and how it was chosen'),
});

export const MODEL_CARD = z.object({
  name: z.string().describe('Name of the method: the version of the newest forecast'),
  method: LINES.describe('Steps of a forecast'),
  trials: COUNT.describe('Variants of the direction tried before it was fixed; readers should discount the record for selection'),
  distributionTrials: COUNT.describe('Distributions tried on the same history, those of challengers included'),
  versions: z.array(VERSION).describe('All model versions, oldest first'),
  blockDays: COUNT.describe('Days that one fit serves before it is refitted'),
  embargoDays: COUNT.describe('Days between the last training day and the first forecast day'),
  trainingStart: DATE.describe('First day of all training data'),
  scores: z.array(SCORE).describe('Scores that the model uses'),
  inputs: z.array(INPUT).describe('Series behind the scores, the price first'),
  regimes: z.array(REGIME_ROW).describe('Regimes, rules and thresholds'),
  regimeTerms: z.string().describe('Definitions of the terms in the rules'),
  independentCallsAYear: listOf('Information content of a one-year record', {
    horizon: HORIZON.describe('Horizon'),
    calls: z.number().min(0).describe('Effective number of independent calls of a year of daily calls, given overlapping windows'),
  }),
  fitted: FITTED.nullable().describe('Current fit; null before the first forecast'),
  selfTests: objectOf('Self-tests, recomputed on schedule', {
    walkForward: z.string().describe('URL: out-of-sample scores, fold by fold, with intervals and leak tests'),
    contamination: z.string().describe('URL: look-ahead tests by era and regime'),
    stability: z.string().describe('URL: accuracy under moved thresholds'),
  }),
  intendedUse: LINES.describe('Intended use'),
  notFor: LINES.describe('Uses it is not intended for'),
  knownFailures: LINES.describe('Known failures'),
  limits: LINES.describe('Caveats'),
});

export type ModelCard = z.input<typeof MODEL_CARD>;
