import { describe, expect, it } from 'vitest';
import { formatLocalClock, formatLocalTime } from '../../../../src/page/browser/dom.ts';
import { formatDecimal, formatPercent, formatPercentInterval, toSentence } from '../../../../src/page/markup.ts';

describe('format text', () => {
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
});

describe('local time', () => {
  it.each([
    ['UTC', '2026-11-22 21:35 UTC', '21:35 UTC'],
    ['Europe/Berlin', '2026-11-22 22:35 CET', '22:35 CET'],
    ['Asia/Tokyo', '2026-11-23 06:35 GMT+9', '06:35 GMT+9'],
  ])('names date and zone of a reader in %s', (zone, time, clock) => {
    expect(formatLocalTime('2026-11-22T21:35:10.000Z', zone)).toBe(time);
    expect(formatLocalClock('2026-11-22T21:35:10.000Z', zone)).toBe(clock);
  });

  it('midnight is 00:00', () => {
    expect(formatLocalTime('2026-11-22T00:00:00.000Z', 'UTC')).toBe('2026-11-22 00:00 UTC');
  });
});
