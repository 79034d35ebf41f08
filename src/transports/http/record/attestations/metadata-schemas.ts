import { z } from 'zod';
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

const FORECAST = z.object({
  date: DAY,
  modelVersion: z.string().describe('Model version'),
  modelDigest: BYTES32.describe('Digest of all data available to the model'),
  trials: COUNT.describe('Model variants tried before this one'),
  regime: REGIME.describe('Market regime'),
  inputsDigest: BYTES32.describe('Attested digest of the inputs'),
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
