import { ask } from './api.js';

/** @import { Answers } from './answers.ts' */

/**
 * The scorecard with all its entries, read page by page: the charts and the check show the whole record.
 * @param {string} path of the scorecard, with the size of a page
 * @param {{ token?: string | null }} options
 * @returns {Promise<Answers['scorecard']>}
 * @throws {import('./api.js').Problem}
 */
export async function askWholeScorecard(path, options) {
  const newest = await ask(path, options);
  if (!newest.nextCursor) return newest;
  const predictions = [...newest.predictions];
  for (let { nextCursor } = newest; nextCursor; ) {
    const page = await ask(`${path}&before=${nextCursor}`, options);
    predictions.push(...page.predictions);
    nextCursor = page.nextCursor === nextCursor ? null : page.nextCursor;
  }
  return { ...newest, predictions, count: predictions.length, nextCursor: null };
}
