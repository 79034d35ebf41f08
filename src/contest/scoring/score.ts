import { brierScore } from '../../forecast/scoring.ts';

/** Range of committed probabilities in basis points; the oracle's are clipped to it. */
export const MIN_PROBABILITY_BPS = 100;
export const MAX_PROBABILITY_BPS = 9_900;

const BPS = 10_000;

export const POINTS_PER_BRIER = 10_000;

export interface CommitmentScore {
  /** Squared errors, 0 to 1, lower is better. */
  brierWallet: number;
  brierOracle: number;
  /** 10,000 times the oracle's squared error minus the wallet's, rounded: positive where the wallet was better. */
  points: number;
}

export function scoreCommitment(at: { walletBps: number; oracleBps: number; above: boolean }): CommitmentScore {
  const { walletBps, oracleBps, above } = at;
  const target = above ? BPS : 0;
  // Integers until the last step, so that rounding is the same everywhere.
  const difference = (oracleBps - target) ** 2 - (walletBps - target) ** 2;
  return {
    brierWallet: brierScore(walletBps / BPS, above),
    brierOracle: brierScore(oracleBps / BPS, above),
    // Adding 0 turns -0 into 0.
    points: Math.round((difference * POINTS_PER_BRIER) / BPS ** 2) + 0,
  };
}

export const MAX_POINTS = scoreCommitment({ walletBps: MAX_PROBABILITY_BPS, oracleBps: MIN_PROBABILITY_BPS, above: true }).points;

/** A probability, 0 to 1, in whole basis points clipped to the contest's range. */
export function toContestBps(probability: number): number {
  return Math.min(MAX_PROBABILITY_BPS, Math.max(MIN_PROBABILITY_BPS, Math.round(probability * BPS)));
}
