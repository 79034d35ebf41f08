import { expect, it } from 'vitest';
import { getFearGreedLabel } from '../../../../src/market/series.ts';

it.each([
  [0, 'Extreme Fear'],
  [25, 'Extreme Fear'],
  [26, 'Fear'],
  [46, 'Fear'],
  [47, 'Neutral'],
  [54, 'Neutral'],
  [55, 'Greed'],
  [75, 'Greed'],
  [76, 'Extreme Greed'],
  [100, 'Extreme Greed'],
])('labels %d as %s', (value, label) => {
  expect(getFearGreedLabel(value)).toBe(label);
});
