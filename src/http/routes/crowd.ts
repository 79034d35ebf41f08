import type { z } from 'zod';
import type { Caller } from '../../record/caller.ts';
import { crowdAgainstOracle, crowdFoot, crowdHead, crowdPins } from '../../record/crowd/against-oracle.ts';
import { accuracyByVenue, crowdAccuracy } from '../../record/crowd/crowd-accuracy.ts';
import { isSettled } from '../../record/crowd/pins.ts';
import { weakEtag } from '../etag.ts';
import type { HttpParts } from '../parts.ts';
import { type Reply, type Route, route } from '../route.ts';
import { CROWD_ACCURACY_REPLY, CROWD_VS_ORACLE_REPLY } from '../schemas/crowd.ts';

/** Interface, section 4.1: the crowd of prediction markets against the oracle. */
export function crowdRoutes(parts: HttpParts): Route[] {
  return [
    route({
      path: '/api/svc/crowd-vs-oracle',
      name: 'getCrowdVsOracle',
      tag: 'crowd',
      summary: 'Weekly head-to-head of the prediction-market crowd against the oracle, on the strike closest to the money',
      reply: CROWD_VS_ORACLE_REPLY,
      handle: ({ caller }) => crowdVsOracle(parts, caller),
    }),
    route({
      path: '/api/svc/crowd-accuracy',
      name: 'getCrowdAccuracy',
      tag: 'crowd',
      summary: 'How accurate the prices of prediction markets have been, with intervals and a reliability table',
      reply: CROWD_ACCURACY_REPLY,
      handle: ({ caller }) => crowdAccuracyReply(parts, caller),
    }),
  ];
}

async function crowdVsOracle(parts: HttpParts, caller: Caller): Promise<Reply<z.input<typeof CROWD_VS_ORACLE_REPLY>>> {
  const body = { success: true as const, ...(await crowdAgainstOracle(parts, caller)) };
  return { headers: { ETag: weakEtag(body) }, body };
}

async function crowdAccuracyReply(parts: HttpParts, caller: Caller): Promise<Reply<z.input<typeof CROWD_ACCURACY_REPLY>>> {
  const { pins, through } = await crowdPins(parts, caller);
  const told = pins.filter(isSettled).filter(({ day }) => through === null || day <= through);
  const body = {
    success: true as const,
    ...crowdHead(parts, through),
    ...crowdAccuracy(told.filter(({ venue }) => parts.sameBook.includes(venue))),
    byVenue: accuracyByVenue(told).map(({ venue, ...accuracy }) => ({ venue, quotesAreOurs: venue === 'paper', ...accuracy })),
    ...crowdFoot(parts, told, through),
  };
  return { headers: { ETag: weakEtag(body) }, body };
}
