import { z } from 'zod';
import { parseDay } from '../../../forecast/day.ts';
import { OracleError } from '../../../platform/errors.ts';
import type { Brief } from '../../../record/briefs/compose.ts';
import { filterBriefByHorizons } from '../../../record/briefs/filter-by-horizons.ts';
import { renderBriefMarkdown, renderBriefText } from '../../../record/briefs/render.ts';
import type { HttpDeps } from '../deps.ts';
import { HORIZON_PARAMETERS, selectHorizons } from '../server/parsing/horizon-parameters.ts';
import { dateInput } from '../server/parsing/parameters.ts';
import { buildWeakEtag } from '../server/replies/etag.ts';
import { negotiateMediaType } from '../server/replies/negotiate.ts';
import { type Reply, type Route, route } from '../server/route.ts';
import { DAILY_BRIEF } from './brief-schemas.ts';

const TYPES = ['application/json', 'text/plain', 'text/markdown'] as const;

export function briefRoutes({ reports }: Pick<HttpDeps, 'reports'>): Route[] {
  return [
    route('GET /api/svc/daily-brief', 'getDailyBrief', {
      tag: 'reports',
      summary: 'Daily brief: market, regime, resolved forecasts, record and next events',
      description:
        'Generated at 03:00 UTC from data known by then, and immutable. `Accept` selects JSON, plain text or Markdown. It is the ' +
        'same for every caller, and names unresolved forecasts without their values. It covers 7 days; `horizons=all` adds 1, 2 and 3 days.',
      query: z.object({
        date: dateInput.optional().describe('Day of an older brief, YYYY-MM-DD; default: the newest'),
        ...HORIZON_PARAMETERS,
      }),
      reply: DAILY_BRIEF,
      alternatives: {
        'text/plain': { description: 'The same as plain text.' },
        'text/markdown': { description: 'The same as Markdown.' },
      },
      errors: ['NOT_FOUND', 'STEP_WAITING'],
      async handle({ query, accept }) {
        const horizons = selectHorizons(query);
        return toBriefReply(filterBriefByHorizons(await readBrief(reports, query.date), horizons), accept);
      },
    }),
  ];
}

async function readBrief({ briefs }: HttpDeps['reports'], wanted: string | undefined): Promise<Brief> {
  const brief = wanted === undefined ? await briefs.findLatest() : await briefs.findByDay(parseDay(wanted));
  if (brief !== null) return brief;
  if (wanted !== undefined) throw new OracleError('NOT_FOUND', `No brief for ${wanted}`, { field: 'date' });
  const suggestedAction =
    'Briefs are made at 03:00 UTC, the first on the day after the first forecast. GET /api/status has the pending steps.';
  throw new OracleError('STEP_WAITING', 'No brief yet', { suggestedAction });
}

function toBriefReply(brief: Brief, accept: string): Reply<z.input<typeof DAILY_BRIEF>> {
  const type = negotiateMediaType(accept, TYPES);
  const headers = { Vary: 'Accept', ETag: buildWeakEtag({ type, brief }) };
  if (type === 'application/json') return { headers, body: { success: true, ...brief } };
  const raw = type === 'text/plain' ? renderBriefText(brief) : renderBriefMarkdown(brief);
  return { headers: { ...headers, 'Content-Type': `${type}; charset=utf-8` }, raw };
}
