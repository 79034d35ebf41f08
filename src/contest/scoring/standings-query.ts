import type { Document } from 'mongodb';
import type { Address } from 'viem';

export interface StandingRow {
  _id: Address;
  commitments: number;
  rounds: number;
  points: number;
  brierWallet: number;
  brierOracle: number;
  /** Brier score of the oracle minus the wallet's: positive where the wallet was better. */
  meanDifference: number;
  /** Sample standard deviation of the rounds' differences; null for one round. */
  standardDeviation: number | null;
  ranked: boolean;
}

/** All standings, best first. A round counts once per wallet: its markets share one close, so that its commitments are not independent. */
export function buildStandingsPipeline(minRounds: number): Document[] {
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
    { $sort: { ranked: -1, meanDifference: -1, points: -1, _id: 1 } },
  ];
}
