import { z } from 'zod';
import { readScorecard } from '../../../skills/get-track-record.ts';
import { SCORECARD } from '../../record/schemas/track-record.ts';
import { beforeInput, optionalLimitInput, PAGE_LIMITS, scorecardDaysInput } from '../parameters.ts';
import { buildNextPageHeaders } from '../replies.ts';
import { type Route, route } from '../route.ts';
import type { Services } from '../services.ts';

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
export function scorecardRoutes(deps: Services): Route[] {
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
      shared: 'state',
      variesByCaller: true,
      async handle({ query, caller, context }) {
        const { horizon, limit, before } = query;
        if ((limit ?? (before === undefined ? Number.POSITIVE_INFINITY : 0)) > SHORT_PAGE)
          await context.countCall(LONG_ANSWER_UNITS - UNITS);
        const page =
          limit === undefined && before === undefined ? null : { limit: limit ?? PAGE_LIMITS.scorecard.default, before: before ?? null };
        const { nextBefore, predictions, ...record } = await readScorecard(horizon, page, deps, caller);
        const next = page === null || nextBefore === null ? null : { horizon, limit: page.limit, before: nextBefore };
        const nextCursor = nextBefore === null ? null : String(nextBefore);
        return {
          headers: buildNextPageHeaders(deps.publicUrl, PATH, next),
          body: { success: true as const, ...record, predictions, count: predictions.length, nextCursor },
        };
      },
    }),
  ];
}
