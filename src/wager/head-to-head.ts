import { boundedLogLoss } from '../forecast/scoring.ts';
import { EARNED_WEIGHT } from './sizing.ts';

/** Settled markets on which model and market are compared before the model is believed. */
export const MIN_SETTLED_MARKETS = 30;

/** One settled market: what both sides said of YES when it was pinned, and what happened. */
export interface SettledComparison {
  marketId: string;
  pModel: number;
  qMarket: number;
  winner: 'YES' | 'NO';
}

export interface HeadToHead {
  settledMarkets: number;
  /** Mean log loss, natural logarithm; null before the first settled market. */
  modelLogLoss: number | null;
  marketLogLoss: number | null;
  /** Share of the model's deviation from the market that wagers believe in. */
  weight: number;
}

/**
 * Model against market on distinct markets, each by its first comparison. The weight is zero until the model's mean log loss is the
 * lower one on at least 30 of them.
 */
export function compareHeadToHead(comparisons: SettledComparison[]): HeadToHead {
  const firsts = [...new Map(comparisons.toReversed().map((item) => [item.marketId, item])).values()];
  const settledMarkets = firsts.length;
  if (settledMarkets === 0) return { settledMarkets, modelLogLoss: null, marketLogLoss: null, weight: 0 };
  const modelLogLoss = meanLoss(firsts.map(({ pModel, winner }) => boundedLogLoss(pModel, winner === 'YES')));
  const marketLogLoss = meanLoss(firsts.map(({ qMarket, winner }) => boundedLogLoss(qMarket, winner === 'YES')));
  const earned = settledMarkets >= MIN_SETTLED_MARKETS && modelLogLoss < marketLogLoss;
  return { settledMarkets, modelLogLoss, marketLogLoss, weight: earned ? EARNED_WEIGHT : 0 };
}

function meanLoss(values: number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
