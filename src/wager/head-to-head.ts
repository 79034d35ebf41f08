import { meanBy } from '../forecast/math/mean.ts';
import { boundedLogLoss } from '../forecast/scoring.ts';
import { EARNED_WEIGHT } from './sizing.ts';

/** Settled markets required before the model gets any weight. */
export const MIN_SETTLED_MARKETS = 30;

/** One settled market with both probabilities of YES at the time of the wager. */
export interface SettledComparison {
  marketId: string;
  pModel: number;
  qMarket: number;
  winner: 'YES' | 'NO';
}

export type HeadToHead = ReturnType<typeof compareHeadToHead>;

/** Mean log loss (natural logarithm) by the first wager of each market. The weight is 0 until the model has the lower mean log loss on 30 markets. */
export function compareHeadToHead(comparisons: SettledComparison[]) {
  const firsts = [...new Map(comparisons.toReversed().map((item) => [item.marketId, item])).values()];
  const settledMarkets = firsts.length;
  if (settledMarkets === 0) return { settledMarkets, modelLogLoss: null, marketLogLoss: null, weight: 0 };
  const modelLogLoss = meanBy(firsts, ({ pModel, winner }) => boundedLogLoss(pModel, winner === 'YES'));
  const marketLogLoss = meanBy(firsts, ({ qMarket, winner }) => boundedLogLoss(qMarket, winner === 'YES'));
  const earned = settledMarkets >= MIN_SETTLED_MARKETS && modelLogLoss < marketLogLoss;
  return { settledMarkets, modelLogLoss, marketLogLoss, weight: earned ? EARNED_WEIGHT : 0 };
}
