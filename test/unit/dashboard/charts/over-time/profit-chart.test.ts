import { expect, it } from 'vitest';
import { createScale } from '../../../../../src/page/browser/charts/figure.ts';
import { extendToWholeTicks } from '../../../../../src/page/browser/charts/over-time.ts';

it.each([
  [
    [0, -200, -560, -250],
    [-600, 0],
  ],
  [
    [0, 130],
    [0, 150],
  ],
  [
    [0, -3, 12],
    [-5, 15],
  ],
  [
    [0, 0],
    [0, 0],
  ],
  [
    [0, 0.000_001],
    [0, 0.000_001],
  ],
])('extends the profit axis of %j to whole ticks', (values, domain) => {
  const [low, high] = extendToWholeTicks(values);
  expect([low, high].map((value) => Number(value.toPrecision(6)) + 0)).toEqual(domain);
  const { ticks } = createScale([low, high], [0, 1], 4);
  if (low !== high) expect([ticks[0], ticks[ticks.length - 1]].map((tick) => Number(tick.toPrecision(6)) + 0)).toEqual(domain);
});
