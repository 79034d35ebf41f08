import { z } from 'zod';
import { readRegime, readRegimeHistory } from '../../../skills/get-market-context.ts';
import { type MarketReport, REPORT_ENVELOPE } from '../../market/reports/report.ts';
import { MARKET_REPORTS } from '../../market/reports/reports.ts';
import { COUNT, DATE, listOf, namedObject, SUCCESS, TIME } from '../../platform/validation.ts';
import { REGIME } from '../../record/schemas/forecast.ts';
import { REGIME_FIELDS, RISK_LEVEL } from '../../record/schemas/market-context.ts';
import { toPascalCase } from '../openapi/schemas.ts';
import { limitInput } from '../parameters.ts';
import { buildWeakEtag } from '../replies.ts';
import { type Route, route } from '../route.ts';
import type { Services } from '../services.ts';

/** Interface, section 2.4. */
export function regimeRoutes(deps: Services): Route[] {
  return [
    route('GET /api/svc/regime', 'getRegime', {
      tag: 'signal',
      access: 'basic',
      summary: 'Current market regime with its factors and start',
      reply: CURRENT_REGIME,
      errors: ['STEP_WAITING'],
      handle: async () => ({
        body: { success: true as const, ...(await readRegime(deps)), source: deps.market.source },
      }),
    }),
    route('GET /api/svc/regime/history', 'listRegimes', {
      tag: 'signal',
      access: 'basic',
      summary: 'Daily regimes of the record, newest first, with the changes',
      query: z.object({ limit: limitInput(365, 90) }),
      reply: REGIME_HISTORY,
      async handle({ query }) {
        const { days, transitions } = await readRegimeHistory(deps, query.limit);
        return { body: { success: true as const, count: days.length, days, transitions, source: deps.market.source } };
      },
    }),
  ];
}

/** Interface, section 2.4. */
const CURRENT_REGIME = namedObject('CurrentRegime', {
  success: SUCCESS,
  ...REGIME_FIELDS,
  source: z.string().describe('Market data source, e.g. `live` or `simulated (seed 2)`'),
});

const REGIME_HISTORY = namedObject('RegimeHistory', {
  success: SUCCESS,
  count: COUNT.describe('Number of days'),
  days: listOf('All days of the record, newest first', {
    date: DATE.describe('Day, UTC'),
    regime: REGIME.nullable().describe('Regime of the day; null for a missed day'),
    riskLevel: RISK_LEVEL.nullable().describe('Risk level; null for a missed day'),
    timestamp: TIME.describe('When it was evaluated, or recorded as missed'),
    missed: z.boolean().describe('True when the service missed the day'),
    replayed: z.boolean().describe('True when the demonstration replayed the day'),
  }),
  transitions: listOf('Regime changes within these days, newest first', {
    date: DATE.describe('First evaluated day of the new regime'),
    from: REGIME.describe('Previous regime'),
    to: REGIME.describe('New regime'),
    timestamp: TIME.describe('Time of the evaluation'),
    replayed: z.boolean().describe('True when the demonstration replayed the day'),
  }),
  source: z.string().describe('Market data source, e.g. `live` or `simulated (seed 2)`'),
});

/** Bounds of `max-age`, seconds. */
const MAX_AGE = { min: 5, max: 3_600 };

/** Interface, section 2.6: one operation per market report. */
export function marketRoutes({ market, now }: Services): Route[] {
  return MARKET_REPORTS.map((report) =>
    // `getEtfFlows` for `/api/etf-flows`.
    route(`GET ${report.path}`, `get${toPascalCase(report.path.split('/').at(-1)!)}`, {
      tag: 'market',
      summary: report.summary,
      reply: buildReportSchema(report),
      // A report of the spot price fails before the first price.
      errors: report.dependsOn.includes('spot') ? ['PRICE_UNAVAILABLE'] : [],
      async handle() {
        const atMs = now().getTime();
        const body = await market.report(report, atMs);
        const changes = await Promise.all(report.dependsOn.map((what) => market.nextChangeAt(what, atMs)));
        const untilChange = Math.floor((Math.min(...changes) - atMs) / 1000);
        // A late series may update at any time.
        const maxAge = body.stale ? MAX_AGE.min : Math.max(MAX_AGE.min, Math.min(MAX_AGE.max, untilChange));
        return { headers: { 'Cache-Control': `public, max-age=${maxAge}`, ETag: buildWeakEtag(body) }, body };
      },
    }),
  );
}

/** A market report: its own fields, then the envelope. */
export function buildReportSchema({ fields }: MarketReport): typeof REPORT_ENVELOPE {
  return fields.extend(REPORT_ENVELOPE.shape) as z.ZodObject as typeof REPORT_ENVELOPE;
}
