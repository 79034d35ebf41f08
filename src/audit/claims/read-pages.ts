import { OracleError } from '../../platform/errors.ts';

const ROWS_PER_PAGE = 1_000;
/** Bound on the entries of one scorecard. */
export const MAX_ROWS = 100_000;

type Page = { predictions: readonly unknown[]; nextCursor?: string | null | undefined };

/** Reads all pages of a scorecard, the newest first. @throws OracleError SERVICE_UNREACHABLE when they do not end, and the errors of `read` */
export async function readPages<P extends Page>(horizonDays: number, read: (query: string) => Promise<P>): Promise<P[]> {
  const pages: P[] = [];
  for (let rows = 0, before = ''; ; ) {
    const page = await read(`horizon=${horizonDays}&limit=${ROWS_PER_PAGE}${before}`);
    const { predictions, nextCursor } = page;
    pages.push(page);
    rows += predictions.length;
    if (nextCursor == null) return pages;
    if (predictions.length === 0 || rows > MAX_ROWS)
      throw new OracleError('SERVICE_UNREACHABLE', 'The scorecard of the service does not end');
    before = `&before=${encodeURIComponent(nextCursor)}`;
  }
}
