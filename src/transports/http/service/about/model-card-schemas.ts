import { z } from 'zod';
import { MODEL_INPUTS } from '../../../../forecast/model.ts';
import { RISK_LEVELS } from '../../../../forecast/regime/regime.ts';
import { SERIES_IDS } from '../../../../market/series/series.ts';
import { BYTES32, COUNT, DATE, PROBABILITY, TIME } from '../../../../platform/validation/fields.ts';
import { HORIZON, REGIME } from '../../../../record/schemas/forecast.ts';

const SCORE = z.enum(MODEL_INPUTS);

const byScore = (what: string) =>
  z.object(
    Object.fromEntries(MODEL_INPUTS.map((name) => [name, z.number().describe(`${what} ${name}`)])) as Record<
      (typeof MODEL_INPUTS)[number],
      z.ZodNumber
    >,
  );

const CALIBRATION = z.object({
  intercept: z.number().describe('Added to the log odds'),
  slope: z.number().min(0).max(1).describe('What the log odds of the scores are multiplied by'),
  lowest: PROBABILITY.describe('Lowest P(up) that can come of this fit, whatever the scores: each lies in -1 to 1'),
  highest: PROBABILITY.describe('Highest P(up) that can come of it'),
});

const FIT = z.object({
  horizon: HORIZON.describe('Horizon that this fit forecasts'),
  trainedFrom: DATE.describe('First day that was learned from'),
  trainedTo: DATE.describe('Last day that was learned from, its outcome included'),
  trainingDays: COUNT.describe('How many days that are'),
  baseRate: PROBABILITY.describe('Shrunk share of rises among them, 0 to 1: what the forecast is measured against'),
  coefficients: byScore('Log odds for each unit of').describe('Slopes of the regression'),
  inputMeans: byScore('Mean over the training days of').describe('What scores are measured from'),
  calibration: CALIBRATION.nullable().describe(
    'logit P(up) = logit(baseRate) + intercept + slope * sum of coefficient * (score - mean). Null below Basic: with it the direction of open forecasts could be told',
  ),
});

const FITTED = z.object({
  version: z.string().describe('Version of the model that the newest forecast was made with'),
  fittedAt: TIME.describe('When it was fitted'),
  horizons: z.array(FIT).describe('One fit a horizon'),
  trainingDigest: BYTES32.describe('Digest of everything that the fit could have read'),
  coefficientsDigest: BYTES32.describe('sha2-256 of the canonical JSON (RFC 8785) of all coefficients'),
});

const INPUT = z.object({
  series: z.enum(SERIES_IDS).describe('What it is'),
  title: z.string().describe('Its name'),
  unit: z.string().describe('Unit of its values'),
  lagDays: COUNT.describe('The forecast of a day reads values dated this many days before it, or earlier'),
  staleDays: COUNT.describe('A value dated longer ago than this is masked'),
  enters: z.array(SCORE).describe('Scores that it enters'),
  source: z.string().describe('Where it comes from at present'),
  licences: z
    .array(
      z.object({
        of: z.string().describe('Whose data'),
        licence: z.string().describe('On what terms it may be used, as far as that is known'),
      }),
    )
    .describe('Of everybody who is asked for it, the primary first'),
});

const REGIME_ROW = z.object({
  regime: REGIME.describe('Name'),
  rule: z.string().describe('When it holds; tried in this order, the first that holds counts'),
  daysToEnter: COUNT.describe('Consecutive days its rule must hold before the regime changes to it'),
  theta: PROBABILITY.describe('How far P(up) has to be from one half for BUY or SELL'),
  riskLevel: z.enum(RISK_LEVELS).describe('How risky the market is then'),
});

const LINES = z.array(z.string());

/** The model card: what the model is made of, what it was fitted to, what it is good for and what not. */
export const MODEL_CARD = z.object({
  name: z.string().describe('Name of the method'),
  method: LINES.describe('How a forecast is made, step by step'),
  trials: COUNT.describe('Variants that were tried before it was fixed: a reader of the record has to discount for luck'),
  blockDays: COUNT.describe('Days that one fit serves; then it is made anew'),
  embargoDays: COUNT.describe('Days between the last day that is learned from and the first that is forecast'),
  trainingStart: DATE.describe('First day that is ever learned from'),
  scores: z.array(SCORE).describe('Scores that the model reads'),
  inputs: z.array(INPUT).describe('Series that the scores are made from, the price first'),
  regimes: z.array(REGIME_ROW).describe('Regimes, their rules and what they ask of a signal'),
  regimeTerms: z.string().describe('What the names in the rules stand for'),
  independentCallsAYear: z
    .array(
      z.object({
        horizon: HORIZON.describe('Horizon'),
        calls: z
          .number()
          .min(0)
          .describe('How many independent calls a call on each of 365 days is worth: windows that overlap share their returns'),
      }),
    )
    .describe('What a record of a year is worth'),
  fitted: FITTED.nullable().describe('The fit in use; null before the first forecast'),
  selfTests: z
    .object({
      walkForward: z
        .string()
        .describe('URL: what it would have scored on days it had not seen, fold by fold, with error bars and leak tests'),
      contamination: z.string().describe('URL: by era and by regime, and whether what was not known yet is caught'),
      stability: z.string().describe('URL: how far accuracy moves when thresholds are moved'),
    })
    .describe('Where its results are; computed anew by the timetable'),
  intendedUse: LINES.describe('What the forecasts are made for'),
  notFor: LINES.describe('What they are not made for'),
  knownFailures: LINES.describe('What the model is known to fail at'),
  limits: LINES.describe('What has to be known to read it'),
});

export type ModelCard = z.input<typeof MODEL_CARD>;
