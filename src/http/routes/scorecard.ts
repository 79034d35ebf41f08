import { z } from 'zod';
import type { Caller } from '../../auth/caller.ts';
import { formatHorizonName } from '../../forecast/model.ts';
import { publishRecordSummary } from '../../forecast/record-statistics.ts';
import { compareWithMarket, type MarketComparisonDeps } from '../../record/crowd.ts';
import { SCORECARD } from '../../record/schemas/track-record.ts';
import { buildScorecardPage } from '../../record/scorecard.ts';
import type { HttpDeps } from '../deps.ts';
import { beforeInput, optionalLimitInput, PAGE_LIMITS, scorecardDaysInput } from '../parameters.ts';
import { buildNextPageHeaders } from '../replies.ts';
import { type Route, route } from '../route.ts';

type ScorecardDeps = MarketComparisonDeps & Pick<HttpDeps, 'market' | 'publicUrl' | 'statistics' | 'viewFor'>;

const PATH = '/api/svc/scorecard';

const UNITS = 0.5;
const SHORT_PAGE = 100;
const LONG_ANSWER_UNITS = 0.8;

const QUERY = z.object({
  horizon: scorecardDaysInput,
  limit: optionalLimitInput(PAGE_LIMITS.scorecard.most).describe('Maximum number of entries, newest first; all without it'),
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
        'Without `limit` and `before` all forecasts of the horizon, newest first, in compact rows; with one of them a page with all ' +
        'fields. Send `nextCursor`, also in the header `Link` (RFC 8288), as `before` until it is null. Figures cover all forecasts. ' +
        `More than ${SHORT_PAGE} rows count as ${LONG_ANSWER_UNITS} units of the rate limit.`,
      query: QUERY,
      units: UNITS,
      sharedByTier: true,
      variesByCaller: true,
      async handle({ query, caller, context }) {
        const { horizon, limit, before } = query;
        if ((limit ?? (before === undefined ? Number.POSITIVE_INFINITY : 0)) > SHORT_PAGE)
          await context.countCall(LONG_ANSWER_UNITS - UNITS);
        const [figures, details, predictionMarket, { predictions, limit: shown, nextBefore }] = await Promise.all([
          deps.statistics.figures.getHorizon(horizon),
          deps.statistics.getDetails(horizon),
          compareWithMarket(deps),
          readPredictions(deps, query, caller),
        ]);
        const { summary, stats } = publishRecordSummary(figures.summary);
        return {
          headers: buildNextPageHeaders(deps.publicUrl, PATH, nextBefore === null ? null : { horizon, limit: shown, before: nextBefore }),
          body: {
            success: true as const,
            horizon: formatHorizonName(horizon),
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
      },
    }),
  ];
}

async function readPredictions({ record, viewFor }: ScorecardDeps, query: z.output<typeof QUERY>, caller: Caller) {
  const { horizon: horizonDays, before = null } = query;
  const options = viewFor(caller);
  if (query.limit === undefined && before === null) {
    return { predictions: await record.scorecardRows.list(horizonDays, options), limit: 0, nextBefore: null };
  }
  const { limit = PAGE_LIMITS.scorecard.default } = query;
  const newest = await record.listNewest(horizonDays, { limit: limit + 1, before });
  return { ...buildScorecardPage(newest, limit, options), limit };
}
