import type { Market } from '../../../../market/market.ts';
import type { ReportEnvelope } from '../../../../market/reports/envelope-fields.ts';
import { MARKET_REPORTS } from '../../../../market/reports/registry.ts';
import type { MarketReport } from '../../../../market/reports/report.ts';
import type { HttpDeps } from '../../deps.ts';
import { toPascalCase } from '../../openapi/components/pascal-case.ts';
import { buildWeakEtag } from '../../server/replies/etag.ts';
import { type Reply, type Route, route } from '../../server/route.ts';
import { buildReportSchema } from './schemas.ts';

/** Bounds of `max-age`, seconds. */
const MAX_AGE = { min: 5, max: 3_600 };

/** Interface, section 2.6: one operation per market report. */
export function marketRoutes({ market, now }: Pick<HttpDeps, 'market' | 'now'>): Route[] {
  return MARKET_REPORTS.map((report) =>
    route(`GET ${report.path}`, toOperationName(report), {
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
  return `get${toPascalCase(path.split('/').at(-1)!)}`;
}

/** A report of the spot price fails before the first price. */
function needsPrice({ dependsOn }: MarketReport): boolean {
  return dependsOn.includes('spot');
}

async function readMarketReport(market: Market, report: MarketReport, atMs: number): Promise<Reply<ReportEnvelope>> {
  const body = await market.report(report, atMs);
  const changes = await Promise.all(report.dependsOn.map((what) => market.nextChangeAt(what, atMs)));
  // A late series may update at any time.
  const maxAge = body.stale ? MAX_AGE.min : secondsUntil(Math.min(...changes), atMs);
  return { headers: { 'Cache-Control': `public, max-age=${maxAge}`, ETag: buildWeakEtag(body) }, body };
}

function secondsUntil(changeMs: number, atMs: number): number {
  return Math.max(MAX_AGE.min, Math.min(MAX_AGE.max, Math.floor((changeMs - atMs) / 1000)));
}
