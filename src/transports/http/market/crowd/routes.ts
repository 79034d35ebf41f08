import { z } from 'zod';
import type { Caller } from '../../../../auth/caller.ts';
import {
  buildCrowdFooter,
  buildCrowdHeader,
  type CrowdComparisonDeps,
  compareCrowdWithOracle,
  readCrowdFigures,
} from '../../../../record/crowd/crowd-against-oracle.ts';
import type { HttpDeps } from '../../deps.ts';
import { limitInput, PAGE_LIMITS } from '../../server/parsing/parameters.ts';
import { buildNextPageHeaders } from '../../server/replies/link-header.ts';
import { toTaggedReply } from '../../server/replies/tagged-reply.ts';
import { type Reply, type Route, route } from '../../server/route.ts';
import { CROWD_ACCURACY_REPLY, CROWD_VS_ORACLE_REPLY } from './schemas.ts';

type CrowdDeps = CrowdComparisonDeps & Pick<HttpDeps, 'publicUrl'>;

const CROWD_PATH = '/api/svc/crowd-vs-oracle';

const QUERY = z.object({
  limit: limitInput(PAGE_LIMITS.crowd.most, PAGE_LIMITS.crowd.default),
  before: z
    .string({ error: 'must be given once, as an ISO week' })
    .regex(/^\d{4}-W\d{2}$/, 'must be an ISO week, e.g. 2026-W07')
    .optional()
    .describe('Only weeks before this one: `nextCursor` of the previous page'),
});

/** Interface, section 4.1: prediction-market crowd against oracle. */
export function crowdRoutes(deps: CrowdDeps): Route[] {
  return [
    route(`GET ${CROWD_PATH}`, 'getCrowdVsOracle', {
      units: 0.2,
      tag: 'crowd',
      summary: 'Weekly comparison of the prediction-market crowd with the oracle, on the strike closest to the money',
      description:
        'Totals cover all weeks; `weeks` and `disagreements` are paged, newest first. Send `nextCursor`, also in the header `Link` (RFC 8288), ' +
        'as `before` until it is null.',
      query: QUERY,
      reply: CROWD_VS_ORACLE_REPLY,
      sharedByTier: true,
      variesByCaller: true,
      handle: ({ query, caller }) => readCrowdComparison(deps, query, caller),
    }),
    route('GET /api/svc/crowd-accuracy', 'getCrowdAccuracy', {
      tag: 'crowd',
      summary: 'Accuracy of prediction-market prices, with intervals and a reliability table',
      reply: CROWD_ACCURACY_REPLY,
      sharedByTier: true,
      variesByCaller: true,
      handle: ({ caller }) => readCrowdAccuracy(deps, caller),
    }),
  ];
}

async function readCrowdComparison(
  deps: CrowdDeps,
  { limit, before }: z.output<typeof QUERY>,
  caller: Caller,
): Promise<Reply<z.input<typeof CROWD_VS_ORACLE_REPLY>>> {
  const comparison = await compareCrowdWithOracle(deps, caller, { limit, before: before ?? null });
  const { nextCursor } = comparison;
  const links = buildNextPageHeaders(deps.publicUrl, CROWD_PATH, nextCursor === null ? null : { limit, before: nextCursor });
  return toTaggedReply({ success: true as const, ...comparison }, links);
}

async function readCrowdAccuracy(deps: CrowdComparisonDeps, caller: Caller): Promise<Reply<z.input<typeof CROWD_ACCURACY_REPLY>>> {
  const { figures, through } = await readCrowdFigures(deps, caller);
  return toTaggedReply({
    success: true as const,
    ...buildCrowdHeader(deps, through),
    ...figures.accuracy,
    byVenue: figures.byVenue.map(({ venue, ...accuracy }) => ({ venue, quotesAreOurs: venue === 'paper', ...accuracy })),
    ...buildCrowdFooter(deps, figures.pins.accuracy, through),
  });
}
