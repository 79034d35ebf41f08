import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseDay, toInstantMs } from '../../../../src/forecast/day.ts';
import { getNextPublicationMs, getPublicationMs, SERIES_IDS } from '../../../../src/market/series.ts';

const DAY = parseDay('2025-03-05');

describe('getNextPublicationMs', () => {
  it.each([
    ['btcClose', toInstantMs(DAY, 23, 59), toInstantMs(DAY + 1)],
    ['btcClose', toInstantMs(DAY + 1), toInstantMs(DAY + 2)],
    ['etfFlow', toInstantMs(DAY, 11), toInstantMs(DAY, 12)],
    ['etfFlow', toInstantMs(DAY, 12), toInstantMs(DAY + 1, 12)],
    ['pmi', toInstantMs(DAY, 14), toInstantMs(DAY, 15)],
    ['fearGreed', toInstantMs(DAY, 1), toInstantMs(DAY + 1)],
  ] as const)('returns the next publication of %s', (series, atMs, expected) => {
    expect(getNextPublicationMs(series, atMs)).toBe(expected);
  });

  it('skips no publication', () => {
    const property = fc.property(
      fc.constantFrom(...SERIES_IDS),
      fc.integer({ min: toInstantMs(DAY), max: toInstantMs(DAY + 3) }),
      (series, atMs) => {
        const next = getNextPublicationMs(series, atMs);
        const published = Array.from({ length: 12 }, (_, index) => getPublicationMs(series, DAY - 4 + index));
        expect(next).toBe(Math.min(...published.filter((ms) => ms > atMs)));
      },
    );
    fc.assert(property);
  });
});
