import { z } from 'zod';
import { horizonName } from '../../forecast/model.ts';
import type { Caller } from '../../record/caller.ts';
import { marketComparison } from '../../record/market-comparison.ts';
import { SCORECARD, type ScorecardReply } from '../../record/schemas/scorecard.ts';
import { scorecardOf } from '../../record/scorecard.ts';
import { nextPageHeaders } from '../next-page.ts';
import { before, limit, PAGES, scorecardHorizon } from '../parameters.ts';
import type { HttpParts } from '../parts.ts';
import { type Reply, type Route, route } from '../route.ts';

const PATH = '/api/svc/scorecard';

const QUERY = z.object({
  horizon: scorecardHorizon,
  limit: limit(PAGES.scorecard.most, PAGES.scorecard.default),
  before: before.describe('Only forecasts whose `sequence` is below this one: `nextCursor` of the page before'),
});

/** Interface, section 2.3: the fields of both shapes; where `outcome` clashes it is the object, and `status` carries the word. */
export function scorecardRoutes(parts: HttpParts): Route[] {
  return [
    route({
      path: PATH,
      name: 'getScorecard',
      tag: 'record',
      reply: SCORECARD,
      summary: 'All forecasts of a horizon, what became of them, and what that is worth',
      description:
        'Figures are those of all forecasts of the horizon; entries come page by page, newest first. `nextCursor`, also in the header ' +
        '`Link` (RFC 8288), is `before` of the next page, until it is null.',
      query: QUERY,
      handle: ({ query, caller }) => scorecard(parts, query, caller),
    }),
  ];
}

async function scorecard(parts: HttpParts, query: z.output<typeof QUERY>, caller: Caller): Promise<Reply<ScorecardReply>> {
  const { horizon: horizonDays, limit, before = null } = query;
  const docs = await parts.record.ofHorizon(horizonDays);
  const { summary, stats, predictions, nextBefore } = scorecardOf(docs, horizonDays, parts.viewFor(caller), { limit, before });
  const [details, predictionMarket] = await Promise.all([parts.statistics.details(docs, horizonDays), marketComparison(parts)]);
  return {
    headers: nextPageHeaders(parts.publicUrl, PATH, nextBefore === null ? null : { horizon: horizonDays, limit, before: nextBefore }),
    body: {
      success: true,
      horizon: horizonName(horizonDays),
      source: parts.market.source,
      summary,
      stats,
      ...details,
      predictionMarket,
      predictions,
      count: predictions.length,
      nextCursor: nextBefore === null ? null : String(nextBefore),
    },
  };
}
