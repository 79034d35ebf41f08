import { z } from 'zod';
import { horizonName } from '../../forecast/model.ts';
import type { Caller } from '../../record/caller.ts';
import { marketComparison } from '../../record/market-comparison.ts';
import { SCORECARD, type ScorecardReply } from '../../record/schemas/scorecard.ts';
import { scorecardOf } from '../../record/scorecard.ts';
import { scorecardHorizon } from '../parameters.ts';
import type { HttpParts } from '../parts.ts';
import { type Reply, type Route, route } from '../route.ts';

/** Interface, section 2.3: the fields of both shapes; where `outcome` clashes it is the object, and `status` carries the word. */
export function scorecardRoutes(parts: HttpParts): Route[] {
  return [
    route({
      path: '/api/svc/scorecard',
      name: 'getScorecard',
      tag: 'record',
      reply: SCORECARD,
      summary: 'All forecasts of a horizon, what became of them, and what that is worth',
      query: z.object({ horizon: scorecardHorizon }),
      handle: ({ query, caller }) => scorecard(parts, query.horizon, caller),
    }),
  ];
}

async function scorecard(parts: HttpParts, horizonDays: number, caller: Caller): Promise<Reply<ScorecardReply>> {
  const docs = await parts.record.ofHorizon(horizonDays);
  const { summary, stats, predictions } = scorecardOf(docs, horizonDays, parts.viewFor(caller));
  const [details, predictionMarket] = await Promise.all([parts.statistics.details(docs, horizonDays), marketComparison(parts)]);
  return {
    body: {
      success: true,
      horizon: horizonName(horizonDays),
      source: parts.market.source,
      summary,
      stats,
      ...details,
      predictionMarket,
      predictions,
    },
  };
}
