import { brierScore } from '../../forecast/scoring.ts';

/** Probabilities in basis points that may be committed; the oracle's are brought into the same range. */
export const MIN_PROBABILITY_BPS = 100;
export const MAX_PROBABILITY_BPS = 9_900;

const BPS = 10_000;

/** Points for a Brier difference of one. */
export const POINTS_PER_BRIER = 10_000;

/** What a commitment was worth once its market was decided. */
export interface CommitmentScore {
  /** Squared errors, 0 to 1, lower is better. */
  brierWallet: number;
  brierOracle: number;
  /** 10,000 times the oracle's squared error less the wallet's, rounded: above 0 where the wallet was the better one. */
  points: number;
}

/** Scores a probability against the oracle's (both in basis points) on a decided market. */
export function scoreCommitment(at: { walletBps: number; oracleBps: number; above: boolean }): CommitmentScore {
  const { walletBps, oracleBps, above } = at;
  const target = above ? BPS : 0;
  // Whole numbers until the last step, so that equal commitments are worth the same points everywhere.
  const difference = (oracleBps - target) ** 2 - (walletBps - target) ** 2;
  return {
    brierWallet: brierScore(walletBps / BPS, above),
    brierOracle: brierScore(oracleBps / BPS, above),
    // Never -0, which is none.
    points: Math.round((difference * POINTS_PER_BRIER) / BPS ** 2) + 0,
  };
}

/** The largest number of points of one market, won or lost. */
export const MAX_POINTS = scoreCommitment({ walletBps: MAX_PROBABILITY_BPS, oracleBps: MIN_PROBABILITY_BPS, above: true }).points;

/** A probability, 0 to 1, in whole basis points within the range of the contest. */
export function toContestBps(probability: number): number {
  return Math.min(MAX_PROBABILITY_BPS, Math.max(MIN_PROBABILITY_BPS, Math.round(probability * BPS)));
}
