import { requestApi } from './api.js';

/** @import { ApiResponses } from './responses.ts' */

/**
 * Reads all pages of the scorecard: charts and checks need the whole record.
 * @param {string} path with the page size @param {{ token?: string | null }} options @returns {Promise<ApiResponses['scorecard']>}
 * @throws {import('./api.js').ApiProblem}
 */
export async function requestFullScorecard(path, options) {
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
