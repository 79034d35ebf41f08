import { expect, it } from 'vitest';
import { logGamma, studentTCdf, studentTQuantile } from '../../../../../src/forecast/baselines.ts';

it.each([
  [0.975, 1, 12.706204736],
  [0.975, 3, 3.182446305],
  [0.995, 4, 4.604094871],
  [0.9, 30, 1.310415025],
  [0.025, 10, -2.228138852],
  [0.5, 5, 0],
])('quantile %d of t with %d degrees is %d', (p, degrees, expected) => {
  expect(studentTQuantile(p, degrees)).toBeCloseTo(expected, 8);
});

it('quantile and distribution function of t are inverse', () => {
  for (const degrees of [2.05, 2.9, 3.1, 7.5, 40, 200])
    for (const p of [0.005, 0.01, 0.2, 0.45, 0.505, 0.8, 0.995])
      expect(studentTCdf(studentTQuantile(p, degrees), degrees)).toBeCloseTo(p, 11);
});

it('the gamma function of whole numbers is a factorial', () => {
  for (const [x, factorial] of [
    [1, 1],
    [2, 1],
    [5, 24],
    [11, 3_628_800],
  ] as const)
    expect(logGamma(x)).toBeCloseTo(Math.log(factorial), 11);
  expect(logGamma(0.5)).toBeCloseTo(0.5 * Math.log(Math.PI), 12);
});
