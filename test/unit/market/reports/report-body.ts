import type { Feed } from '../../../../src/market/feed.ts';
import type { MarketReport } from '../../../../src/market/reports/report.ts';
import { buildReport } from '../../../../src/market/reports/reports.ts';
import { createMemoryFeed } from '../memory-feed.ts';

export const QUARTER_HOUR_MS = 15 * 60_000;

// biome-ignore lint/suspicious/noExplicitAny: bodies are what is tested
export type Body = any;

/** A report on a feed from arrays, as JSON brings it to a reader. */
export async function buildReportBody(report: MarketReport, atMs: number, ...feed: Parameters<typeof createMemoryFeed>): Promise<Body> {
  return readReportBody(report, createMemoryFeed(...feed), atMs);
}

export async function readReportBody(report: MarketReport, feed: Feed, atMs: number): Promise<Body> {
  return JSON.parse(JSON.stringify(await buildReport(report, feed, atMs, QUARTER_HOUR_MS)));
}
