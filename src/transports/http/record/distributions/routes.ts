import { z } from 'zod';
import { formatHorizonName } from '../../../../forecast/model.ts';
import { openRevealedDistributions } from '../../../../record/distributions/revealed-distributions.ts';
import { DISTRIBUTIONS, type DistributionsReply } from '../../../../record/schemas/distributions.ts';
import type { HttpDeps } from '../../deps.ts';
import { beforeInput, limitInput, PAGE_LIMITS, scorecardDaysInput } from '../../server/parsing/parameters.ts';
import { buildNextPageHeaders } from '../../server/replies/link-header.ts';
import { type Reply, type Route, route } from '../../server/route.ts';

type DistributionRouteDeps = Pick<HttpDeps, 'distributionScores' | 'publicUrl' | 'record' | 'saltSecret'>;

const PATH = '/api/svc/distributions';

const UNITS = 0.2;
const UNITS_PER_ENTRY = 0.008;

const QUERY = z.object({
  horizon: scorecardDaysInput,
  limit: limitInput(PAGE_LIMITS.distributions.most, PAGE_LIMITS.distributions.default),
  before: beforeInput.describe('Only forecasts with a lower `sequence`: `nextCursor` of the previous page'),
});

/** The committed distributions of resolved forecasts, as anyone can verify them. */
export function distributionRoutes(deps: DistributionRouteDeps): Route[] {
  return [
    route(`GET ${PATH}`, 'listDistributions', {
      tag: 'record',
      reply: DISTRIBUTIONS,
      summary: 'The distributions of all model versions that were committed with each resolved forecast of a horizon, with their scores',
      description:
        'Quantiles and salts open the digests in the metadata, whose sha2-256 is on chain since before the outcome window. Distributions ' +
        'of forecasts without an outcome on chain are returned to no caller. Entries are paged, newest first: send `nextCursor`, also in ' +
        'the header `Link` (RFC 8288), as `before` until it is null. A page counts as 0.008 units of the rate limit for each entry of `limit`.',
      query: QUERY,
      units: UNITS,
      sharedByTier: true,
      async handle({ query, context }) {
        const units = query.limit * UNITS_PER_ENTRY;
        if (units > UNITS) await context.countCall(units - UNITS);
        return readDistributions(deps, query);
      },
    }),
  ];
}

async function readDistributions(deps: DistributionRouteDeps, query: z.output<typeof QUERY>): Promise<Reply<DistributionsReply>> {
  const { horizon: horizonDays, limit, before = null } = query;
  const newest = await deps.record.listRevealed(horizonDays, { limit: limit + 1, before });
  const shown = newest.slice(0, limit);
  const next = newest.length > limit ? shown.at(-1)!.sequence : null;
  const data = await openRevealedDistributions(deps, shown);
  return {
    headers: buildNextPageHeaders(deps.publicUrl, PATH, next === null ? null : { horizon: horizonDays, limit, before: next }),
    body: {
      success: true,
      horizon: formatHorizonName(horizonDays),
      data,
      count: data.length,
      nextCursor: next === null ? null : String(next),
    },
  };
}
