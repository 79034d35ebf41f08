import type { ScorecardRow } from '../state/responses.ts';

/** All rows of the chosen horizon. */
export interface ShownRecord {
  horizon: number;
  known: readonly ScorecardRow[];
}

/**
 * Data of other rows that a check compares: the row with the previous sequence number, the number of rows with the same number, and the
 * closes of adjacent windows in USD; null where no row has one.
 */
export interface Neighbours {
  before: ScorecardRow | null;
  alike: number;
  openingClose: number | null;
  endingClose: number | null;
}

/** @param known of its horizon */
export function findNeighbours(row: ScorecardRow, known: readonly ScorecardRow[]): Neighbours {
  const others = known.filter(({ sequence }) => sequence !== row.sequence);
  return {
    before: others.find(({ sequence }) => sequence === row.sequence - 1) ?? null,
    alike: known.length - others.length,
    openingClose: others.find(({ resolvesAt }) => resolvesAt === row.windowOpensAt)?.btcAtResolution ?? null,
    endingClose: others.find(({ windowOpensAt, provisional }) => windowOpensAt === row.resolvesAt && !provisional)?.btcAtSignal ?? null,
  };
}
