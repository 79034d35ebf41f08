import type { z } from 'zod';
import { ask } from './service.ts';

/** Entries that are asked for at once. */
const PAGE_ROWS = 1_000;

interface Page {
  predictions: unknown[];
  nextCursor?: string | null;
}

/** The scorecard of a horizon with all its entries, read page by page. @throws OracleError as `ask` does */
export async function wholeScorecard<Answer extends Page>(url: string, horizonDays: number, as: z.ZodType<Answer>) {
  const path = `/api/svc/scorecard?horizon=${horizonDays}&limit=${PAGE_ROWS}`;
  const { answer, body } = await ask({ url, path, as });
  const bodies = [body as Page];
  for (let nextCursor = answer.nextCursor ?? null; nextCursor !== null; ) {
    const page = await ask({ url, path: `${path}&before=${encodeURIComponent(nextCursor)}`, as });
    bodies.push(page.body as Page);
    answer.predictions.push(...page.answer.predictions);
    nextCursor = page.answer.nextCursor === nextCursor ? null : (page.answer.nextCursor ?? null);
  }
  if (bodies.length === 1) return { answer, body };
  const predictions = bodies.flatMap((one) => one.predictions);
  return { answer, body: { ...(body as Page), predictions, count: predictions.length, nextCursor: null } };
}
