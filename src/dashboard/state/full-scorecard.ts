import { requestApi } from './api.ts';
import type { ApiResponses } from './responses.ts';

type Scorecard = ApiResponses['scorecard'];

/** Rows that the page shows first and checks, with their neighbours. */
const FIRST_ROWS = 40;
const PAGE_ROWS = 1_000;

/** The newest rows; `nextCursor` is null when they are all. @throws {ApiProblem} */
export function requestNewestRows(path: string, options: { token?: string | null }): Promise<Scorecard> {
  return requestApi<Scorecard>(`${path}&limit=${FIRST_ROWS}`, options);
}

/** All pages of the scorecard, for charts and shares of the whole record. @throws {ApiProblem} */
export async function requestFullScorecard(path: string, options: { token?: string | null }): Promise<Scorecard> {
  const paged = `${path}&limit=${PAGE_ROWS}`;
  const newest = await requestApi<Scorecard>(paged, options);
  const predictions = [...newest.predictions];
  let cursor: string | null = newest.nextCursor;
  while (cursor) {
    const page: Scorecard = await requestApi(`${paged}&before=${cursor}`, options);
    predictions.push(...page.predictions);
    cursor = page.nextCursor === cursor ? null : page.nextCursor;
  }
  return { ...newest, predictions, count: predictions.length, nextCursor: null };
}

/** Whether rows of the record are missing. */
export function isPartial({ nextCursor }: Pick<Scorecard, 'nextCursor'>): boolean {
  return nextCursor !== null && nextCursor !== undefined;
}
