import { requestApi } from './api.ts';
import type { ApiResponses } from './responses.ts';

/**
 * Reads all pages of the scorecard: charts and checks need the whole record.
 * @param path with the page size
 * @throws {ApiProblem}
 */
export async function requestFullScorecard(path: string, options: { token?: string | null }): Promise<ApiResponses['scorecard']> {
  const newest = await requestApi<ApiResponses['scorecard']>(path, options);
  if (!newest.nextCursor) return newest;
  const predictions = [...newest.predictions];
  let cursor: string | null = newest.nextCursor;
  while (cursor) {
    const page: ApiResponses['scorecard'] = await requestApi(`${path}&before=${cursor}`, options);
    predictions.push(...page.predictions);
    cursor = page.nextCursor === cursor ? null : page.nextCursor;
  }
  return { ...newest, predictions, count: predictions.length, nextCursor: null };
}
