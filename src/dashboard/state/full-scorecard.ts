import { requestApi } from './api.ts';
import type { ApiResponses } from './responses.ts';

/**
 * Reads all pages of the scorecard: charts and checks need the whole record.
 * @param path with the page size
 * @throws {import('./api.ts').ApiProblem}
 */
export async function requestFullScorecard(path: string, options: { token?: string | null }): Promise<ApiResponses['scorecard']> {
  const newest = await requestApi(path, options);
  if (!newest.nextCursor) return newest;
  const predictions = [...newest.predictions];
  for (let { nextCursor } = newest; nextCursor; ) {
    const page = await requestApi(`${path}&before=${nextCursor}`, options);
    predictions.push(...page.predictions);
    nextCursor = page.nextCursor === nextCursor ? null : page.nextCursor;
  }
  return { ...newest, predictions, count: predictions.length, nextCursor: null };
}
