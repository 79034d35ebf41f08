export const ROWS_PER_PAGE = 1_000;
/** Bound on the entries of one scorecard. */
export const MAX_ROWS = 100_000;

interface ScorecardPage {
  predictions: readonly unknown[];
  nextCursor?: string | null | undefined;
}

/** Reads all pages, the newest first (cursor null). Throws `createEndlessError` for a service whose pages do not end. */
export async function readPages<P extends ScorecardPage>(
  read: (before: string | null) => Promise<P>,
  createEndlessError: () => Error,
): Promise<P[]> {
  const pages = [await read(null)];
  for (let rows = 0; ; ) {
    const { predictions, nextCursor = null } = pages.at(-1)!;
    rows += predictions.length;
    if (nextCursor === null) return pages;
    if (predictions.length === 0 || rows > MAX_ROWS) throw createEndlessError();
    pages.push(await read(nextCursor));
  }
}

export function buildPageQuery(horizonDays: number, limit: number, before: string | null): string {
  return `horizon=${horizonDays}&limit=${limit}${before === null ? '' : `&before=${encodeURIComponent(before)}`}`;
}
