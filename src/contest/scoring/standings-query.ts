import type { Document } from 'mongodb';
import type { Address } from 'viem';
import type { Pagination } from '../pagination.ts';

/** What a wallet's scored commitments come to. Briers and their difference are means over rounds of the means within each. */
export interface StandingRow {
  _id: Address;
  commitments: number;
  rounds: number;
  points: number;
  brierWallet: number;
  brierOracle: number;
  /** Brier of the oracle less the wallet's: above 0 where the wallet was the better one. */
  meanDifference: number;
  /** Sample standard deviation of the rounds' differences; null for one round. */
  standardDeviation: number | null;
  ranked: boolean;
}

/**
 * A page of the leaderboard. The markets of a round share one close, so a round counts once, however many of its markets a wallet
 * took: else five nearly equal commitments would pass for five independent ones.
 */
export function buildStandingsPipeline({ limit, offset }: Pagination, minRounds: number): Document[] {
  return [
    { $match: { score: { $ne: null } } },
    {
      $group: {
        _id: { wallet: '$wallet', round: '$roundId' },
        commitments: { $sum: 1 },
        points: { $sum: '$score.points' },
        brierWallet: { $avg: '$score.brierWallet' },
        brierOracle: { $avg: '$score.brierOracle' },
      },
    },
    { $set: { difference: { $subtract: ['$brierOracle', '$brierWallet'] } } },
    {
      $group: {
        _id: '$_id.wallet',
        rounds: { $sum: 1 },
        commitments: { $sum: '$commitments' },
        points: { $sum: '$points' },
        brierWallet: { $avg: '$brierWallet' },
        brierOracle: { $avg: '$brierOracle' },
        meanDifference: { $avg: '$difference' },
        standardDeviation: { $stdDevSamp: '$difference' },
      },
    },
    { $set: { ranked: { $gte: ['$rounds', minRounds] } } },
    {
      $facet: {
        rows: [{ $sort: { ranked: -1, meanDifference: -1, points: -1, _id: 1 } }, { $skip: offset }, { $limit: limit }],
        counts: [{ $group: { _id: null, total: { $sum: 1 }, ranked: { $sum: { $cond: ['$ranked', 1, 0] } } } }],
      },
    },
  ];
}
