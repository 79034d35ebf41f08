import { z } from 'zod';
import { formatHorizonName, type HorizonDays } from '../../../../forecast/model.ts';
import { ROLLING_DAYS } from '../../../../forecast/statistics/series/score-series.ts';
import type { RecordSeriesPoint } from '../../../../record/challenge/record-series.ts';
import { renderSeriesCsv } from '../../../../record/challenge/series-csv.ts';
import type { HttpDeps } from '../../deps.ts';
import { limitInput, PAGE_LIMITS, scorecardDaysInput } from '../../server/parsing/parameters.ts';
import { buildNextPageHeaders } from '../../server/replies/link-header.ts';
import { type Reply, type Route, route } from '../../server/route.ts';
import { SERIES_REPLY } from './schemas.ts';

const PATH = '/api/svc/scorecard/series';
const DESCRIPTION =
  'Each point covers the forecasts resolved up to its day, cumulatively and over a rolling window, with 95 % intervals. Points are paged, ' +
  'newest first. Send `nextCursor`, also in the header `Link` (RFC 8288), as `before` until it is null.';

const QUERY = z.object({
  horizon: scorecardDaysInput,
  limit: limitInput(PAGE_LIMITS.series.most, PAGE_LIMITS.series.default),
  before: z
    .string({ error: 'must be given once, as a date of the form YYYY-MM-DD' })
    .regex(/^\d{4}-\d{2}-\d{2}$/, 'must be a date of the form YYYY-MM-DD')
    .optional()
    .describe('Only points before this day: `nextCursor` of the previous page'),
});

type SeriesDeps = Pick<HttpDeps, 'statistics' | 'publicUrl'>;

/** Scores over time. */
export function seriesRoutes(deps: SeriesDeps): Route[] {
  return [
    route(`GET ${PATH}`, 'getScoreSeries', {
      units: 0.2,
      tag: 'record',
      summary: 'Hit rate, skill, coverage and the evidence between model versions over time, with intervals',
      description: DESCRIPTION,
      query: QUERY,
      reply: SERIES_REPLY,
      sharedByTier: true,
      handle: async ({ query }): Promise<Reply<z.input<typeof SERIES_REPLY>>> => {
        const { points, nextCursor, headers } = await readPage(deps, PATH, query);
        const horizon = formatHorizonName(query.horizon as HorizonDays);
        return { headers, body: { success: true, horizon, rollingDays: ROLLING_DAYS, points, nextCursor } };
      },
    }),
    route(`GET ${PATH}.csv`, 'getScoreSeriesCsv', {
      tag: 'record',
      summary: 'The same as a CSV file',
      description: DESCRIPTION,
      query: QUERY,
      reply: null,
      alternatives: { 'text/csv': { description: 'A header, and a line a point.' } },
      handle: async ({ query }) => {
        const { points, headers } = await readPage(deps, `${PATH}.csv`, query);
        return { headers: { ...headers, 'Content-Type': 'text/csv; charset=utf-8' }, raw: renderSeriesCsv(points) };
      },
    }),
  ];
}

async function readPage(deps: SeriesDeps, path: string, { horizon, limit, before }: z.output<typeof QUERY>) {
  const all = await deps.statistics.figures.getSeries(horizon);
  const end = before === undefined ? all.length : countBefore(all, before);
  const points = all.slice(Math.max(0, end - limit), end).toReversed();
  const nextCursor = end > limit ? points.at(-1)!.date : null;
  const headers = buildNextPageHeaders(deps.publicUrl, path, nextCursor === null ? null : { horizon, limit, before: nextCursor });
  return { points, nextCursor, headers };
}

/** @param points by ascending date */
function countBefore(points: readonly RecordSeriesPoint[], date: string): number {
  let [low, high] = [0, points.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (points[middle]!.date < date) low = middle + 1;
    else high = middle;
  }
  return low;
}
