import type { z } from 'zod';
import type { Feed } from '../feed.ts';
import type { SeriesId } from '../series/series.ts';
import type { SeriesReading } from '../series/series-reading.ts';
import type { ReportPrice } from './report-price.ts';

/** What a report is built from. */
export interface ReportInput {
  feed: Feed;
  /** The instant that the report is about (ms). */
  atMs: number;
  /** @throws OracleError PRICE_UNAVAILABLE when no price was ever known */
  spot(): Promise<ReportPrice>;
  /** A series in its newest version. */
  read(series: SeriesId): Promise<SeriesReading>;
}

/** A public view of market data, served under its path. */
export interface MarketReport {
  path: string;
  summary: string;
  /** Everything that it is made of, the main input first; what it tells of their origin, staleness and next change follows from this list. */
  dependsOn: readonly (SeriesId | 'spot')[];
  /** The report's own fields, each described with its unit; what is told beside them is in `ENVELOPE`. */
  fields: z.ZodObject;
  /** The values of these fields, ready for JSON: rounded, null where nothing is known. */
  build(input: ReportInput): Promise<object>;
}

/** Declares a report; what it builds is typed by its fields. */
export function defineReport<F extends z.ZodObject>(
  definition: Omit<MarketReport, 'fields' | 'build'> & { fields: F; build(input: ReportInput): Promise<z.input<F>> },
): MarketReport {
  return definition;
}
