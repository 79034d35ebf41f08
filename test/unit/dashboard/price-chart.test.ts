import { expect, it } from 'vitest';
import { newestAfter } from '../../../src/dashboard/charts/price-chart.js';

it('a newest price is drawn after the last close where it is near to it', () => {
  const newest = { day: 100.5, price: 80_000 };
  expect(newestAfter(100, newest)).toBe(newest);
  expect(newestAfter(97, newest)).toBe(newest);
  expect(newestAfter(101, newest)).toBeNull();
  // While history is replayed the last close is months ago.
  expect(newestAfter(96, newest)).toBeNull();
  expect(newestAfter(0, null)).toBeNull();
});
