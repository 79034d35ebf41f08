import { z } from 'zod';
import { OracleError } from '../../errors.ts';
import { parseDay } from '../../forecast/day.ts';
import type { Brief } from '../../record/briefs/brief.ts';
import { briefOfHorizons } from '../../record/briefs/of-horizons.ts';
import { briefAsMarkdown, briefAsText } from '../../record/briefs/render.ts';
import { weakEtag } from '../etag.ts';
import { chosenHorizons, HORIZON_CHOICE } from '../horizon-choice.ts';
import { negotiate } from '../negotiate.ts';
import { date } from '../parameters.ts';
import type { HttpParts } from '../parts.ts';
import { type Reply, type Route, route } from '../route.ts';
import { DAILY_BRIEF } from '../schemas/brief.ts';

const TYPES = ['application/json', 'text/plain', 'text/markdown'] as const;

/** Interface, section 4.1: the daily brief. */
export function briefRoutes({ reports }: Pick<HttpParts, 'reports'>): Route[] {
  return [
    route({
      path: '/api/svc/daily-brief',
      name: 'getDailyBrief',
      tag: 'reports',
      summary: 'The brief of the day: market, regime, what was resolved, the record so far and what comes next',
      description:
        'Made at 03:00 UTC from what was known then, and kept for ever. `Accept` chooses between JSON, plain text and Markdown. It is the ' +
        'same for every caller: of unresolved forecasts it says that they exist. It covers the 7-day story; `horizons=all` adds 1, 2 and 3 days.',
      query: z.object({ date: date.optional().describe('Day of an older brief, YYYY-MM-DD; the newest unless sent'), ...HORIZON_CHOICE }),
      reply: DAILY_BRIEF,
      alternatives: {
        'text/plain': { description: 'The same as plain text.' },
        'text/markdown': { description: 'The same as Markdown.' },
      },
      errors: ['NOT_FOUND', 'STEP_WAITING'],
      async handle({ query, accept }) {
        const horizons = chosenHorizons(query);
        return replyWith(briefOfHorizons(await briefOf(reports, query.date), horizons), accept);
      },
    }),
  ];
}

async function briefOf({ briefs }: HttpParts['reports'], wanted: string | undefined): Promise<Brief> {
  const brief = wanted === undefined ? await briefs.latest() : await briefs.of(parseDay(wanted));
  if (brief !== null) return brief;
  if (wanted !== undefined) throw new OracleError('NOT_FOUND', `There is no brief of ${wanted}`, { field: 'date' });
  throw new OracleError('STEP_WAITING', 'There is no brief yet', {
    suggestedAction: 'A brief is made at 03:00 UTC, the first on the day after the first forecast. GET /api/status says what waits.',
  });
}

function replyWith(brief: Brief, accept: string): Reply<z.input<typeof DAILY_BRIEF>> {
  const type = negotiate(accept, TYPES);
  const headers = { Vary: 'Accept', ETag: weakEtag({ type, brief }) };
  if (type === 'application/json') return { headers, body: { success: true, ...brief } };
  const raw = type === 'text/plain' ? briefAsText(brief) : briefAsMarkdown(brief);
  return { headers: { ...headers, 'Content-Type': `${type}; charset=utf-8` }, raw };
}
