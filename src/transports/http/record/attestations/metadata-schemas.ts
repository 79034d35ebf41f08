import { z } from 'zod';
import { HORIZON_NAMES } from '../../../../forecast/horizon-input.ts';
import { MODEL_NAMES } from '../../../../forecast/models/registry.ts';
import { SERIES_IDS } from '../../../../market/series/series.ts';
import { BYTES32, COUNT, DATE, TIME } from '../../../../platform/validation/fields.ts';
import { REGIME } from '../../../../record/schemas/forecast.ts';

const DAY = DATE.describe('Day of the forecasts');

const INPUT = z.object({
  series: z.enum(SERIES_IDS).describe('Series'),
  source: z.string().describe('Source'),
  observedDay: DATE.nullable().describe('Date of the newest observation used; null for a series left out'),
  availableAt: TIME.nullable().describe('When that observation became available; null for a series left out'),
});

const MODEL = z.object({
  name: z.enum(MODEL_NAMES).describe('Name of the model version'),
  role: z
    .enum(['champion', 'challenger'])
    .describe('`champion`: the service forecasts by it; `challenger`: it is compared with the champion'),
  modelVersion: z.string().nullable().describe('Its fit; null without a forecast of the day'),
  missingBecause: z.string().optional().describe('Why it has no forecast'),
  distributions: z
    .object(Object.fromEntries(HORIZON_NAMES.map((name) => [name, BYTES32.describe(`Over ${name}`)])))
    .nullable()
    .describe('Salted digest of its predictive distribution by horizon, opened when the horizon is resolved'),
});

const FORECAST = z.object({
  date: DAY,
  modelVersion: z.string().describe('Model version'),
  modelDigest: BYTES32.describe('Digest of all data available to the model'),
  trials: COUNT.describe('Model variants tried before this one'),
  regime: REGIME.describe('Market regime'),
  inputsDigest: BYTES32.describe('Attested digest of the inputs'),
  rangesDigest: BYTES32.optional().describe('Digest of the daily highs and lows'),
  models: z.array(MODEL).optional().describe('Model versions that forecast the day, the champion first'),
  feed: z.string().describe('Market data source'),
  inputs: z.array(INPUT).describe('Sources and times of all inputs, without values'),
});

const MISSED = z.object({
  date: DAY,
  missed: z.literal(true).describe('Nothing was forecast before the window opened'),
  reason: z.string().describe('Why'),
});

/** Canonical JSON (RFC 8785), whose sha2-256 is attested. */
export const METADATA = z.union([FORECAST.describe('Day with forecasts'), MISSED.describe('Missed day')]);
