import { z } from 'zod';
import { COVERED_SHARES, LAST_LOOK_FOLDS } from '../../../forecast/backtest/walk-forward/versions.ts';
import { formatHorizonName, HORIZONS, MODEL_NAME } from '../../../forecast/model.ts';
import { MODEL_NAMES } from '../../../forecast/models/registry.ts';
import { COUNT, PROBABILITY } from '../../../platform/validation/fields.ts';
import { DIFFERENCE } from '../../schemas/statistics.ts';

const CRPS = z.number().min(0).describe('Mean continuous ranked probability score in log-return units, lower is better');
const GAIN = z.object({ ...DIFFERENCE, value: z.number().describe(`1 - CRPS / CRPS of ${MODEL_NAME}; positive is better`) });

const VERSION_FOLD = z.object({
  fold: z.int().min(1).describe('Fold number, from 1'),
  crps: CRPS,
  gain: z.number().nullable().describe(`1 - CRPS / CRPS of ${MODEL_NAME} in the same fold; null of ${MODEL_NAME} itself`),
  coverage50: PROBABILITY.describe('Share of outcomes within the central 50 % of the distribution'),
  coverage80: PROBABILITY.describe('Within the central 80 %'),
  coverage90: PROBABILITY.describe('Within the central 90 %'),
});

const FOLDS_TOGETHER = {
  n: COUNT.describe('Forecast days'),
  crps: CRPS,
  gain: GAIN.nullable().describe(
    `Gain over ${MODEL_NAME} on the same days, with the interval of the paired block bootstrap; null of ${MODEL_NAME} itself`,
  ),
};

const COVERAGE = z.object({
  nominal: z.literal(COVERED_SHARES).describe('Probability of the central range'),
  ...DIFFERENCE,
  value: PROBABILITY.describe('Share of outcomes within it'),
});

const VERSION_HORIZON = z.object({
  horizonDays: z.literal(HORIZONS).describe('Days ahead'),
  horizon: z.enum(HORIZONS.map(formatHorizonName)).describe('The same as a name'),
  folds: z.array(VERSION_FOLD).describe('Complete folds, oldest first'),
  foldsBetter: COUNT.nullable().describe(`Folds with a gain above 0; null of ${MODEL_NAME}`),
  pooled: z
    .object({ ...FOLDS_TOGETHER, coverage: z.array(COVERAGE).describe('Coverage of the central ranges') })
    .nullable()
    .describe('All folds pooled; null without a complete fold'),
  lastLook: z
    .object(FOLDS_TOGETHER)
    .nullable()
    .describe(
      `Folds ${LAST_LOOK_FOLDS.from} to ${LAST_LOOK_FOLDS.to}, looked at once, after versions later than the first were chosen on the folds before them; null until all are complete`,
    ),
});

/** Every version of the model on the days of the walk-forward. */
export const VERSIONS = z.array(
  z.object({
    name: z.enum(MODEL_NAMES).describe('Name of the model version'),
    title: z.string().describe('What sets its distribution apart'),
    distributionTrials: COUNT.describe('Distributions tried until this version was fixed; discount its gain for selection'),
    horizons: z.array(VERSION_HORIZON).describe('Scores of each horizon, shortest first'),
  }),
);
