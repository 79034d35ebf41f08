import { expect, it } from 'vitest';
import { selectNewestPrice } from '../../../../src/dashboard/charts/price-chart.js';

it('a newest price is drawn after the last close where it is near to it', () => {
  const newest = { day: 100.5, price: 80_000 };
  expect(selectNewestPrice(100, newest)).toBe(newest);
  expect(selectNewestPrice(97, newest)).toBe(newest);
  expect(selectNewestPrice(101, newest)).toBeNull();
  // While history is replayed the last close is months ago.
  expect(selectNewestPrice(96, newest)).toBeNull();
  expect(selectNewestPrice(0, null)).toBeNull();
});
