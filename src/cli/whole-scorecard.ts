import type { z } from 'zod';
import { PAGE_ROWS, pageQuery, readPages } from '../audit/scorecard-pages.ts';
import { OracleError } from '../errors.ts';
import { ask } from './service.ts';

interface Page {
  predictions: unknown[];
  nextCursor?: string | null | undefined;
}

/** The scorecard of a horizon with all its entries, read page by page. @throws OracleError as `ask` does; SERVICE_UNREACHABLE where it has no end */
export async function wholeScorecard<Answer extends Page>(url: string, horizonDays: number, as: z.ZodType<Answer>) {
  const read = async (before: string | null) => {
    const page = await ask({ url, path: `/api/svc/scorecard?${pageQuery(horizonDays, PAGE_ROWS, before)}`, as });
    const { predictions, nextCursor } = page.answer;
    return { ...page, predictions, nextCursor };
  };
  const pages = await readPages(read, () => endless(url));
  const [{ answer, body }] = pages;
  if (pages.length === 1) return { answer, body };
  const rows = pages.flatMap((page) => (page.body as Page).predictions);
  return {
    answer: { ...answer, predictions: pages.flatMap(({ predictions }) => predictions) },
    body: { ...(body as Page), predictions: rows, count: rows.length, nextCursor: null },
  };
}

function endless(url: string): OracleError {
  return new OracleError('SERVICE_UNREACHABLE', `The scorecard of the service at ${url} has no end`, {
    suggestedAction: 'Name the address of another service with --url.',
  });
}
