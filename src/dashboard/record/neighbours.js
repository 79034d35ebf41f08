/** @import { ScorecardRow } from '../state/responses.ts' */

/**
 * The record that a row stands in, as the service shows it: the horizon that was chosen, and all of its rows.
 * @typedef {{ horizon: number, known: readonly ScorecardRow[] }} ShownRecord
 */

/**
 * What other rows of the same record say that bears on one. `before` is the row with the number before it, null where none is shown;
 * `alike` is how many rows have its number, itself among them; `openingClose` is the close that the row ended with whose window ended
 * when this one opened, and `endingClose` the one that the row began with whose window opened when this one ended, in USD; null where no
 * row says any.
 * @typedef {{ before: ScorecardRow | null, alike: number, openingClose: number | null, endingClose: number | null }} Neighbours
 */

/**
 * @param {ScorecardRow} row
 * @param {readonly ScorecardRow[]} known all rows of its horizon
 * @returns {Neighbours}
 */
export function findNeighbours(row, known) {
  const others = known.filter(({ sequence }) => sequence !== row.sequence);
  return {
    before: others.find(({ sequence }) => sequence === row.sequence - 1) ?? null,
    alike: known.length - others.length,
    openingClose: others.find(({ resolvesAt }) => resolvesAt === row.windowOpensAt)?.btcAtResolution ?? null,
    endingClose: others.find(({ windowOpensAt, provisional }) => windowOpensAt === row.resolvesAt && !provisional)?.btcAtSignal ?? null,
  };
}
