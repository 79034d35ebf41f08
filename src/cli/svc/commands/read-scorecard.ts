import type { z } from 'zod';
import { buildPageQuery, ROWS_PER_PAGE, readPages } from '../../../audit/claims/scorecard-pages.ts';
import { OracleError } from '../../../platform/errors.ts';
import { queryService } from '../service-request.ts';

interface ScorecardAnswerPage {
  predictions: unknown[];
  nextCursor?: string | null | undefined;
}

/** The scorecard of a horizon with all its entries, read page by page. @throws OracleError as `ask` does; SERVICE_UNREACHABLE where it has no end */
export async function readWholeScorecard<Answer extends ScorecardAnswerPage>(url: string, horizonDays: number, as: z.ZodType<Answer>) {
  const read = async (before: string | null) => {
    const page = await queryService({ url, path: `/api/svc/scorecard?${buildPageQuery(horizonDays, ROWS_PER_PAGE, before)}`, schema: as });
    const { predictions, nextCursor } = page.answer;
    return { ...page, predictions, nextCursor };
  };
  const pages = await readPages(read, () => endlessScorecardError(url));
  const [{ answer, body }] = pages;
  if (pages.length === 1) return { answer, body };
  const rows = pages.flatMap((page) => (page.body as ScorecardAnswerPage).predictions);
  return {
    answer: { ...answer, predictions: pages.flatMap(({ predictions }) => predictions) },
    body: { ...(body as ScorecardAnswerPage), predictions: rows, count: rows.length, nextCursor: null },
  };
}

function endlessScorecardError(url: string): OracleError {
  return new OracleError('SERVICE_UNREACHABLE', `The scorecard of the service at ${url} has no end`, {
    suggestedAction: 'Name the address of another service with --url.',
  });
}
