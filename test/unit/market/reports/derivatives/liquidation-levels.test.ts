import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { estimateLiquidationLevels, type LiquidationRules } from '../../../../../src/market/reports/derivatives.ts';
import { between } from '../../../../support/record/arbitraries.ts';

const rules: LiquidationRules = {
  entryDays: 3,
  halfLifeDays: 1,
  maintenanceMargin: 0.01,
  leverages: [
    { leverage: 5, share: 0.75 },
    { leverage: 20, share: 0.25 },
  ],
};
const rounded = ({ levels, clearedUsd }: ReturnType<typeof estimateLiquidationLevels>) => ({
  levels: levels.map(({ side, priceUsd, usd }) => [side, Math.round(priceUsd * 100) / 100, Math.round(usd)]),
  clearedUsd: Math.round(clearedUsd),
});

describe('estimateLiquidationLevels', () => {
  it('places both sides at the entry minus margin, by leverage', () => {
    expect(rounded(estimateLiquidationLevels(800, Float64Array.of(100), 100, rules))).toEqual({
      levels: [
        ['long', 81, 300],
        ['short', 119, 300],
        ['long', 96, 100],
        ['short', 104, 100],
      ],
      clearedUsd: 0,
    });
  });

  it('weights older entries less and ignores those before the window', () => {
    const { levels } = estimateLiquidationLevels(7_000, Float64Array.of(500, 100, 100, 100), 100, rules);
    const entered = levels.filter(({ side, priceUsd }) => side === 'long' && Math.round(priceUsd) === 81).map(({ usd }) => Math.round(usd));
    expect(entered).toEqual([1_500, 750, 375]);
    expect(levels.every(({ priceUsd }) => priceUsd < 150)).toBe(true);
  });

  it('removes levels that a later close or the price has reached', () => {
    // The dip to 95 took the longs at 96 of the first day; the price of 105 takes the shorts at 104 and 98.8 of both.
    const estimate = rounded(estimateLiquidationLevels(900, Float64Array.of(100, 95), 105, rules));
    expect(estimate.levels).toEqual([
      ['long', 76.95, 225],
      ['short', 113.05, 225],
      ['long', 91.2, 75],
      ['long', 81, 113],
      ['short', 119, 113],
    ]);
    expect(estimate.clearedUsd).toBe(75 + 37.5 + 37.5);
  });

  it('sums to the open interest, with each side beyond the price', () => {
    const price = between(1_000, 200_000);
    const property = fc.property(
      between(0, 1e11),
      fc.array(price, { minLength: 1, maxLength: 40 }),
      price,
      (openInterestUsd, closes, spotUsd) => {
        const { levels, clearedUsd } = estimateLiquidationLevels(openInterestUsd, Float64Array.from(closes), spotUsd, {
          ...rules,
          entryDays: 30,
        });
        const ahead = levels.reduce((sum, { usd }) => sum + usd, 0);
        expect(ahead + clearedUsd).toBeCloseTo(openInterestUsd, 1);
        for (const { side, priceUsd } of levels) expect(side === 'long' ? priceUsd < spotUsd : priceUsd > spotUsd).toBe(true);
      },
    );
    fc.assert(property);
  });
});
