import { expect, it } from 'vitest';
import { formatDecimal, formatPercent, formatPercentInterval, toSentence } from '../../../../src/page/browser/dom.ts';

it.each([
  [formatDecimal(-0.011, 4), '−0.0110'],
  [formatDecimal(0.25), '0.250'],
  [formatDecimal(null), '–'],
  [formatPercent(-0.0161, 2), '−1.61\u00a0%'],
  [formatPercentInterval({ low: -0.107, high: 0.245 }), '−10.7\u00a0% to 24.5\u00a0%'],
])('formats minus and percent signs: %s', (written, expected) => {
  expect(written).toBe(expected);
});

it.each([
  ['oracle and crowd cannot be distinguished', 'Oracle and crowd cannot be distinguished.'],
  ['No leak was found.', 'No leak was found.'],
  ['skill -0.03 % (95 % interval -0.40 to 0.28)', 'Skill −0.03\u00a0% (95\u00a0% interval −0.40 to 0.28).'],
  ['(-0.5 to 1) from 2026-11-14 on', '(−0.5 to 1) from 2026-11-14 on.'],
])('capitalizes and ends a sentence, keeping figures together: %s', (words, expected) => {
  expect(toSentence(words)).toBe(expected);
});
