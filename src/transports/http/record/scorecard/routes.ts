import { z } from 'zod';
import type { Caller } from '../../../../auth/caller.ts';
import { formatHorizonName } from '../../../../forecast/model.ts';
import { compareWithMarket, type MarketComparisonDeps } from '../../../../record/crowd/market-comparison.ts';
import { SCORECARD, type ScorecardReply } from '../../../../record/schemas/scorecard.ts';
import { buildScorecard } from '../../../../record/scorecard/scorecard.ts';
import type { HttpDeps } from '../../deps.ts';
import { beforeInput, limitInput, PAGE_LIMITS, scorecardDaysInput } from '../../server/parsing/parameters.ts';
import { buildNextPageHeaders } from '../../server/replies/link-header.ts';
import { type Reply, type Route, route } from '../../server/route.ts';

type ScorecardDeps = MarketComparisonDeps & Pick<HttpDeps, 'market' | 'publicUrl' | 'statistics' | 'viewFor'>;

const PATH = '/api/svc/scorecard';

const UNITS = 0.5;
const SHORT_PAGE = 100;
const LONG_PAGE_UNITS = 0.8;

const QUERY = z.object({
  horizon: scorecardDaysInput,
  limit: limitInput(PAGE_LIMITS.scorecard.most, PAGE_LIMITS.scorecard.default),
  before: beforeInput.describe('Only forecasts with a lower `sequence`: `nextCursor` of the previous page'),
});

/** Interface, section 2.3: the fields of both shapes; `outcome` is the object of one, `status` the text of the other. */
export function scorecardRoutes(deps: ScorecardDeps): Route[] {
  return [
    route(`GET ${PATH}`, 'getScorecard', {
      tag: 'record',
      reply: SCORECARD,
      summary: 'All forecasts of a horizon with outcomes, scores and their significance',
      description:
        `A page of more than ${SHORT_PAGE} entries counts as ${LONG_PAGE_UNITS} units of the rate limit. ` +
        'Figures cover all forecasts of the horizon; entries are paged, newest first. Send `nextCursor`, also in the header ' +
        '`Link` (RFC 8288), as `before` until it is null.',
      query: QUERY,
      units: UNITS,
      sharedByTier: true,
      variesByCaller: true,
      async handle({ query, caller, context }) {
        if (query.limit > SHORT_PAGE) await context.countCall(LONG_PAGE_UNITS - UNITS);
        return readScorecard(deps, query, caller);
      },
    }),
  ];
}

async function readScorecard(deps: ScorecardDeps, query: z.output<typeof QUERY>, caller: Caller): Promise<Reply<ScorecardReply>> {
  const { horizon: horizonDays, limit, before = null } = query;
  const [figures, newest, details, predictionMarket] = await Promise.all([
    deps.statistics.figures.getHorizon(horizonDays),
    deps.record.listNewest(horizonDays, { limit: limit + 1, before }),
    deps.statistics.getDetails(horizonDays),
    compareWithMarket(deps),
  ]);
  const { summary, stats, predictions, nextBefore } = buildScorecard(figures.summary, { newest, limit }, deps.viewFor(caller));
  return {
    headers: buildNextPageHeaders(deps.publicUrl, PATH, nextBefore === null ? null : { horizon: horizonDays, limit, before: nextBefore }),
    body: {
      success: true,
      horizon: formatHorizonName(horizonDays),
      source: deps.market.source,
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
