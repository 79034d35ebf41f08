import { z } from 'zod';
import { formatWeek, parseWeek, WEEK_PATTERN } from '../../../forecast/week.ts';
import { OracleError } from '../../../platform/errors.ts';
import type { WeeklyReport } from '../../../record/weekly/compose.ts';
import type { HttpDeps } from '../deps.ts';
import { buildWeakEtag } from '../server/replies/etag.ts';
import { type Reply, type Route, route } from '../server/route.ts';
import { WEEKLY_ARCHIVE, WEEKLY_REPORT } from './weekly-schemas.ts';

/** Reports are immutable, but a demonstration that is reset has other reports for the same weeks. */
const KEPT = 'public, max-age=3600';

const weekId = z
  .string()
  .regex(WEEK_PATTERN, 'must be an ISO week such as 2026-W07, of 52 or 53 in a year')
  .describe('ISO week, e.g. 2026-W07');

export function weeklyRoutes({ reports }: Pick<HttpDeps, 'reports'>): Route[] {
  return [
    route('GET /api/claw/latest', 'getLatestWeeklyReport', {
      tag: 'reports',
      summary: 'Report on the last complete week',
      description: 'Generated on Monday at 00:30 UTC from data known by then, and immutable.',
      reply: WEEKLY_REPORT,
      errors: ['STEP_WAITING'],
      handle: async () => toWeeklyReply(await readLatestReport(reports)),
    }),
    route('GET /api/claw/archive', 'listWeeklyReports', {
      tag: 'reports',
      summary: 'Weeks with a report',
      reply: WEEKLY_ARCHIVE,
      async handle() {
        const weeks = (await reports.weekly.listDays()).map(formatWeek);
        return { body: { success: true as const, weeks, count: weeks.length } };
      },
    }),
    route('GET /api/claw/archive/{weekId}', 'getWeeklyReport', {
      tag: 'reports',
      summary: 'Report on a week',
      params: z.object({ weekId }),
      reply: WEEKLY_REPORT,
      errors: ['NOT_FOUND'],
      async handle({ params }) {
        const report = await reports.weekly.findByDay(parseWeek(params.weekId));
        if (report === null) throw new OracleError('NOT_FOUND', `No report for ${params.weekId}`, { field: 'weekId' });
        return toWeeklyReply(report, { 'Cache-Control': KEPT });
      },
    }),
  ];
}

async function readLatestReport({ weekly }: HttpDeps['reports']): Promise<WeeklyReport> {
  const report = await weekly.findLatest();
  if (report !== null) return report;
  const suggestedAction = 'Reports are made on Monday at 00:30 UTC, the first after the first week with a forecast.';
  throw new OracleError('STEP_WAITING', 'No weekly report yet', { suggestedAction });
}

function toWeeklyReply(report: WeeklyReport, headers: Record<string, string> = {}): Reply<z.input<typeof WEEKLY_REPORT>> {
  return { headers: { ...headers, ETag: buildWeakEtag(report) }, body: { success: true, ...report } };
}
