import { z } from 'zod';
import { COUNT, SUCCESS, TIME } from '../../platform/validation/fields.ts';
import { FEED_KINDS } from '../feed.ts';
import { SERIES_IDS } from '../series/series.ts';

const INPUT = z.object({
  series: z.enum([...SERIES_IDS, 'spot']).describe('What it is; `spot` is the current price'),
  source: z.string().describe('Where it comes from'),
  lastObserved: z
    .string()
    .nullable()
    .describe('Date of the last value, of the price its ISO 8601 instant; null when there never was a value'),
  observedAt: TIME.nullable().describe('When this value was made or published; null when there never was one'),
  ageDays: z.int().nullable().optional().describe('Days since that date, null without one; not told of the price'),
  ageSeconds: COUNT.optional().describe('Seconds since that instant; told of the price only'),
  stale: z.boolean().describe('True when it is missing or too old'),
  provisional: z.boolean().describe('True before the value is final'),
});

/** The fields common to all reports. */
export const REPORT_ENVELOPE = z.object({
  success: SUCCESS,
  source: z.string().describe('Where the market data comes from, e.g. `live` or `simulated (seed 2)`'),
  kind: z.enum(FEED_KINDS).describe('Kind of market data'),
  timestamp: TIME.describe('The instant that the report is about'),
  observedAt: TIME.nullable().describe('When its main input, the first of `inputs`, was made or published; null without one'),
  ageSeconds: COUNT.nullable().describe('Seconds from `observedAt` to `timestamp`'),
  stale: z.boolean().describe('True when any of the inputs is missing or too old; the last good values are told all the same'),
  inputs: z.array(INPUT).describe('Everything that the report is made of, the main input first'),
});

export type ReportEnvelope = z.output<typeof REPORT_ENVELOPE>;

export type ReportedInput = z.output<typeof INPUT>;
