import type { Market } from '../../../../market/market.ts';
import type { ReportEnvelope } from '../../../../market/reports/envelope-fields.ts';
import { MARKET_REPORTS } from '../../../../market/reports/registry.ts';
import type { MarketReport } from '../../../../market/reports/report.ts';
import type { HttpDeps } from '../../deps.ts';
import { buildWeakEtag } from '../../server/replies/etag.ts';
import { type Reply, type Route, route } from '../../server/route.ts';
import { buildReportSchema } from './schemas.ts';

/** Seconds that an answer may be kept, at least and at most. */
const MAX_AGE = { least: 5, most: 3_600 };

/** Interface, section 2.6, and the further market reports: one resource each. */
export function marketRoutes({ market, now }: Pick<HttpDeps, 'market' | 'now'>): Route[] {
  return MARKET_REPORTS.map((report) =>
    route({
      path: report.path,
      name: toOperationName(report),
      tag: 'market',
      summary: report.summary,
      reply: buildReportSchema(report),
      errors: needsPrice(report) ? ['PRICE_UNAVAILABLE'] : [],
      handle: () => readMarketReport(market, report, now().getTime()),
    }),
  );
}

/** `getEtfFlows` for `/api/etf-flows`. */
function toOperationName({ path }: MarketReport): string {
  const segments = path.split('/').at(-1)!.split('-');
  return `get${segments.map((word) => word[0].toUpperCase() + word.slice(1)).join('')}`;
}

/** A report with a price in it cannot be made before there was one. */
function needsPrice({ dependsOn }: MarketReport): boolean {
  return dependsOn.includes('spot');
}

async function readMarketReport(market: Market, report: MarketReport, atMs: number): Promise<Reply<ReportEnvelope>> {
  const body = await market.report(report, atMs);
  const changes = await Promise.all(report.dependsOn.map((what) => market.nextChangeAt(what, atMs)));
  // What is missing or late may come at any time.
  const maxAge = body.stale ? MAX_AGE.least : secondsUntil(Math.min(...changes), atMs);
  return { headers: { 'Cache-Control': `public, max-age=${maxAge}`, ETag: buildWeakEtag(body) }, body };
}

function secondsUntil(changeMs: number, atMs: number): number {
  return Math.max(MAX_AGE.least, Math.min(MAX_AGE.most, Math.floor((changeMs - atMs) / 1000)));
}
