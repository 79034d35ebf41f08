import { expect, it } from 'vitest';
import { selectNewestPrice } from '../../../../src/dashboard/charts/price-chart.ts';

it('draws the current price only near the last close', () => {
  const newest = { day: 100.5, price: 80_000 };
  expect(selectNewestPrice(100, newest)).toBe(newest);
  expect(selectNewestPrice(97, newest)).toBe(newest);
  expect(selectNewestPrice(101, newest)).toBeNull();
  // During a replay the last close is months old.
  expect(selectNewestPrice(96, newest)).toBeNull();
  expect(selectNewestPrice(0, null)).toBeNull();
});
