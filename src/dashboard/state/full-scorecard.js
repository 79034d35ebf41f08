import { requestApi } from './api.js';

/** @import { ApiResponses } from './responses.ts' */

/**
 * The scorecard with all its entries, read page by page: the charts and the check show the whole record.
 * @param {string} path of the scorecard, with the size of a page
 * @param {{ token?: string | null }} options
 * @returns {Promise<ApiResponses['scorecard']>}
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
