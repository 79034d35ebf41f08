import { z } from 'zod';
import { COUNT, SUCCESS, TIME } from '../../platform/validation/fields.ts';
import { FEED_KINDS } from '../feed.ts';
import { SERIES_IDS } from '../series/series.ts';

const INPUT = z.object({
  series: z.enum([...SERIES_IDS, 'spot']).describe('Series; `spot` is the current price'),
  source: z.string().describe('Source of the input'),
  lastObserved: z.string().nullable().describe('Date of the last value, or ISO 8601 time of the price; null before the first value'),
  observedAt: TIME.nullable().describe('Publication time of the value; null before the first value'),
  ageDays: z.int().nullable().optional().describe('Days since that date; null without one; absent for the price'),
  ageSeconds: COUNT.optional().describe('Seconds since that time; for the price only'),
  stale: z.boolean().describe('True when it is missing or too old'),
  provisional: z.boolean().describe('True before the value is final'),
});

export const REPORT_ENVELOPE = z.object({
  success: SUCCESS,
  source: z.string().describe('Source of the market data, e.g. `live` or `simulated (seed 2)`'),
  kind: z.enum(FEED_KINDS).describe('Kind of market data'),
  timestamp: TIME.describe('Time of the report'),
  observedAt: TIME.nullable().describe('Publication time of the main input, the first of `inputs`; null without one'),
  ageSeconds: COUNT.nullable().describe('Seconds from `observedAt` to `timestamp`'),
  stale: z.boolean().describe('True when any input is missing or too old; the last good values are still returned'),
  inputs: z.array(INPUT).describe('All inputs of the report, the main one first'),
});

export type ReportEnvelope = z.output<typeof REPORT_ENVELOPE>;
export type ReportedInput = z.output<typeof INPUT>;
