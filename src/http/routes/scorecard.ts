import { z } from 'zod';
import { formatDay } from '../../forecast/day.ts';
import { lastDayOver } from '../../record/forecast.ts';
import { scorecardOf } from '../../record/scorecard.ts';
import { scorecardHorizon } from '../parameters.ts';
import type { HttpParts } from '../parts.ts';
import { type Route, route } from '../route.ts';
import { ANYTHING } from '../schemas/anything.ts';

/** Interface, section 2.3: the fields of both shapes; where `outcome` clashes it is the object, and `status` carries the word. */
export function scorecardRoutes(parts: HttpParts): Route[] {
  return [
    route({
      path: '/api/svc/scorecard',
      name: 'getScorecard',
      tag: 'record',
      reply: ANYTHING,
      summary: 'All forecasts of a horizon, what became of them, and what that is worth',
      query: z.object({ horizon: scorecardHorizon }),
      async handle({ query: { horizon }, caller }) {
        const docs = await parts.record.ofHorizon(horizon);
        const { summary, stats, predictions } = scorecardOf(docs, horizon, parts.viewFor(caller));
        return {
          body: {
            success: true,
            horizon: `${horizon}d`,
            source: parts.market.source,
            summary,
            stats,
            predictionMarket: await marketComparison(parts),
            predictions,
          },
        };
      },
    }),
  ];
}

/**
 * Model against market on settled markets of the venue's own book. Quotes of the paper venue are made by this service: winning against
 * them proves nothing.
 */
async function marketComparison({ wagers, venueName, sameBook, now }: HttpParts): Promise<object> {
  // Wagers of days with a pending forecast are left out: a difference between two answers would tell what the model said of one.
  const through = lastDayOver(now());
  const { settledMarkets, modelLogLoss, marketLogLoss, weight } = await wagers.headToHead(sameBook, through);
  const { wins, losses } = await wagers.tally(through);
  return {
    venue: venueName,
    quotesAreOurs: sameBook.includes('paper'),
    throughDate: formatDay(through),
    settledMarkets,
    modelLogLoss,
    marketLogLoss,
    weightGivenToModel: weight,
    wagers: { wins, losses },
  };
}
