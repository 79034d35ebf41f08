/** @import { ScorecardRow } from '../state/responses.ts' */

/** All rows of the chosen horizon. @typedef {{ horizon: number, known: readonly ScorecardRow[] }} ShownRecord */

/**
 * Data of other rows that a check compares: the row with the previous sequence number, the number of rows with the same number, and the
 * closes of adjacent windows in USD; null where no row has one.
 * @typedef {{ before: ScorecardRow | null, alike: number, openingClose: number | null, endingClose: number | null }} Neighbours
 */

/** @param {ScorecardRow} row @param {readonly ScorecardRow[]} known of its horizon @returns {Neighbours} */
export function findNeighbours(row, known) {
  const others = known.filter(({ sequence }) => sequence !== row.sequence);
  return {
    before: others.find(({ sequence }) => sequence === row.sequence - 1) ?? null,
    alike: known.length - others.length,
    openingClose: others.find(({ resolvesAt }) => resolvesAt === row.windowOpensAt)?.btcAtResolution ?? null,
    endingClose: others.find(({ windowOpensAt, provisional }) => windowOpensAt === row.resolvesAt && !provisional)?.btcAtSignal ?? null,
  };
}
