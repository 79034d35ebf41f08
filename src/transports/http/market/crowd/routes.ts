import type { z } from 'zod';
import type { Caller } from '../../../../auth/caller.ts';
import { computeAccuracyByVenue, computeCrowdAccuracy } from '../../../../record/crowd/crowd-accuracy.ts';
import {
  buildCrowdFooter,
  buildCrowdHeader,
  type CrowdComparisonDeps,
  compareCrowdWithOracle,
  readCrowdPins,
} from '../../../../record/crowd/crowd-against-oracle.ts';
import { isSettledPin } from '../../../../record/crowd/crowd-pins.ts';
import { toTaggedReply } from '../../server/replies/tagged-reply.ts';
import { type Reply, type Route, route } from '../../server/route.ts';
import { CROWD_ACCURACY_REPLY, CROWD_VS_ORACLE_REPLY } from './schemas.ts';

/** Interface, section 4.1: prediction-market crowd against oracle. */
export function crowdRoutes(deps: CrowdComparisonDeps): Route[] {
  return [
    route('GET /api/svc/crowd-vs-oracle', 'getCrowdVsOracle', {
      tag: 'crowd',
      summary: 'Weekly comparison of the prediction-market crowd with the oracle, on the strike closest to the money',
      reply: CROWD_VS_ORACLE_REPLY,
      handle: async ({ caller }) => toTaggedReply({ success: true as const, ...(await compareCrowdWithOracle(deps, caller)) }),
    }),
    route('GET /api/svc/crowd-accuracy', 'getCrowdAccuracy', {
      tag: 'crowd',
      summary: 'Accuracy of prediction-market prices, with intervals and a reliability table',
      reply: CROWD_ACCURACY_REPLY,
      handle: ({ caller }) => readCrowdAccuracy(deps, caller),
    }),
  ];
}

async function readCrowdAccuracy(deps: CrowdComparisonDeps, caller: Caller): Promise<Reply<z.input<typeof CROWD_ACCURACY_REPLY>>> {
  const { pins, through } = await readCrowdPins(deps, caller);
  const published = pins.filter(isSettledPin).filter(({ day }) => through === null || day <= through);
  return toTaggedReply({
    success: true as const,
    ...buildCrowdHeader(deps, through),
    ...computeCrowdAccuracy(published.filter(({ venue }) => deps.sameBook.includes(venue))),
    byVenue: computeAccuracyByVenue(published).map(({ venue, ...accuracy }) => ({ venue, quotesAreOurs: venue === 'paper', ...accuracy })),
    ...buildCrowdFooter(deps, published, through),
  });
}
