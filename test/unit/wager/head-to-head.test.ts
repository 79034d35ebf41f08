import { describe, expect, it } from 'vitest';
import { compareHeadToHead, MIN_SETTLED_MARKETS, type SettledComparison } from '../../../src/wager/wagers.ts';

const markets = (count: number, pModel: number, qMarket: number): SettledComparison[] =>
  Array.from({ length: count }, (_, index) => ({ marketId: `m${index}`, pModel, qMarket, winner: 'YES' }));

describe('the weight of the model', () => {
  it('is 0 before enough markets have settled', () => {
    expect(compareHeadToHead([]).weight).toBe(0);
    expect(compareHeadToHead(markets(MIN_SETTLED_MARKETS - 1, 0.9, 0.5)).weight).toBe(0);
  });

  it('depends on the lower log loss', () => {
    expect(compareHeadToHead(markets(MIN_SETTLED_MARKETS, 0.9, 0.5)).weight).toBe(0.5);
    expect(compareHeadToHead(markets(MIN_SETTLED_MARKETS, 0.4, 0.5)).weight).toBe(0);
    expect(compareHeadToHead(markets(MIN_SETTLED_MARKETS, 0.5, 0.5)).weight).toBe(0);
  });

  it('counts each market once by its first comparison', () => {
    const again = markets(20, 0.9, 0.5);
    const { settledMarkets, weight, modelLogLoss } = compareHeadToHead([...again, ...markets(20, 0.1, 0.5)]);
    expect(settledMarkets).toBe(20);
    expect(weight).toBe(0);
    expect(modelLogLoss).toBeCloseTo(-Math.log(0.9), 12);
  });
});
