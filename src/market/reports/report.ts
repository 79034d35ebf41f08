import type { z } from 'zod';
import type { Feed } from '../feed.ts';
import type { SeriesId } from '../series/series.ts';
import type { SeriesReading } from '../series/series-reading.ts';
import type { ReportPrice } from './report-price.ts';

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
