import { z } from 'zod';
import { formatDayOrNull } from '../../forecast/day.ts';
import { COUNT, SUCCESS, TIME } from '../../platform/validation.ts';
import { FEED_KINDS, type Feed, type LatestReading, type SeriesReading, type SpotPrice } from '../feed.ts';
import { SERIES_IDS, type SeriesId } from '../series.ts';

export interface ReportInput {
  feed: Feed;
  atMs: number;
  /** @throws OracleError PRICE_UNAVAILABLE when no price was ever known */
  spot(): Promise<ReportPrice>;
  /** A series in its newest version. */
  read(series: SeriesId): Promise<SeriesReading>;
}

export interface MarketReport {
  path: string;
  summary: string;
  /** All inputs, the main one first. Provenance, staleness and cache expiry of the report derive from this list. */
  dependsOn: readonly (SeriesId | 'spot')[];
  /** The report's own fields, each described with its unit; `REPORT_ENVELOPE` has the common ones. */
  fields: z.ZodObject;
  /** Values of `fields`, rounded for display; null where unknown. */
  build(input: ReportInput): Promise<object>;
}

export function defineReport<F extends z.ZodObject>(
  definition: Omit<MarketReport, 'fields' | 'build'> & { fields: F; build(input: ReportInput): Promise<z.input<F>> },
): MarketReport {
  return definition;
}

export const SERIES_ID = z.enum(SERIES_IDS).meta({ id: 'SeriesId' });

/** Date and condition of a report's figures. */
export function toState({ observedDay, stale, provisional }: Pick<LatestReading, 'observedDay' | 'stale' | 'provisional'>) {
  return { date: formatDayOrNull(observedDay), stale, provisional };
}

/** The last known price, whatever its age. */
export interface ReportPrice extends SpotPrice {
  stale: boolean;
}

const INPUT = z
  .object({
    series: z.enum([...SERIES_IDS, 'spot']).describe('Series; `spot` is the current price'),
    source: z.string().describe('Source of the input'),
    lastObserved: z.string().nullable().describe('Date of the last value, or ISO 8601 time of the price; null before the first value'),
    observedAt: TIME.nullable().describe('Publication time of the value; null before the first value'),
    ageDays: z.int().nullable().optional().describe('Days since that date; null without one; absent for the price'),
    ageSeconds: COUNT.optional().describe('Seconds since that time; for the price only'),
    stale: z.boolean().describe('True when it is missing or too old'),
    provisional: z.boolean().describe('True before the value is final'),
  })
  .meta({ id: 'Input' });

export const REPORT_ENVELOPE = z.object({
  success: SUCCESS,
  source: z.string().describe('Source of the market data, e.g. `live` or `simulated (seed 2)`'),
  kind: z.enum(FEED_KINDS).describe('Kind of market data'),
  timestamp: TIME.nullable().describe(
    'Time of the observation: when the main input, the first of `inputs`, was observed or published; null before the first value',
  ),
  asOf: TIME.describe('Time of the report'),
  ageSeconds: COUNT.nullable().describe('Seconds from `timestamp` to `asOf`'),
  stale: z.boolean().describe('True when any input is missing or too old; the last good values are still returned'),
  inputs: z.array(INPUT).describe('All inputs of the report, the main one first'),
});

export type ReportEnvelope = z.output<typeof REPORT_ENVELOPE>;
export type ReportedInput = z.output<typeof INPUT>;
