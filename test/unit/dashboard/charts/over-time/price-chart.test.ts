import { expect, it } from 'vitest';
import { selectNewest } from '../../../../../src/page/browser/charts/over-time.ts';

it('draws the current price only near the last close', () => {
  const newest = { day: 100.5, price: 80_000 };
  expect(selectNewest(100, newest)).toBe(newest);
  expect(selectNewest(97, newest)).toBe(newest);
  expect(selectNewest(101, newest)).toBeNull();
  // During a replay the last close is months old.
  expect(selectNewest(96, newest)).toBeNull();
  expect(selectNewest(0, null)).toBeNull();
});
