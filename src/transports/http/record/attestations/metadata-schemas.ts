import { z } from 'zod';
import { SERIES_IDS } from '../../../../market/series/series.ts';
import { BYTES32, COUNT, DATE, TIME } from '../../../../platform/validation/fields.ts';
import { REGIME } from '../../../../record/schemas/forecast.ts';

const DAY = DATE.describe('The day of the forecasts');

const INPUT = z.object({
  series: z.enum(SERIES_IDS).describe('What was read'),
  source: z.string().describe('Where it comes from'),
  observedDay: DATE.nullable().describe('Date of the newest observation that was used; null when the series was left out'),
  availableAt: TIME.nullable().describe('When that observation became available; null when the series was left out'),
});

const FORECAST = z.object({
  date: DAY,
  modelVersion: z.string().describe('Version of the model'),
  modelDigest: BYTES32.describe('Digest of everything the model could have learned from'),
  trials: COUNT.describe('Variants that were tried before this model was fixed'),
  regime: REGIME.describe('Market regime'),
  inputsDigest: BYTES32.describe('Digest of the inputs, as it is attested'),
  feed: z.string().describe('Where the market data comes from'),
  inputs: z.array(INPUT).describe('Sources and times of all inputs, without their values'),
});

const MISSED = z.object({
  date: DAY,
  missed: z.literal(true).describe('Nothing was forecast before the window opened'),
  reason: z.string().describe('Why'),
});

/** The bytes are canonical JSON (RFC 8785); their sha2-256 is what is attested. */
export const METADATA = z.union([FORECAST.describe('Of a day with forecasts'), MISSED.describe('Of a missed day')]);
