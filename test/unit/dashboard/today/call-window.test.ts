import { expect, it } from 'vitest';
import { computePassedShare } from '../../../../src/page/browser/today.ts';

it('returns 0 to 1, also for a span of no length', () => {
  expect([5, 10, 15, 20, 25].map((now) => computePassedShare(10, 20, now))).toEqual([0, 0, 0.5, 1, 1]);
  expect([computePassedShare(10, 10, 9), computePassedShare(10, 10, 10), computePassedShare(12, 10, 11)]).toEqual([0, 1, 1]);
});
