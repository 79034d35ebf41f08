import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { instantOf, parseDay } from '../../../src/forecast/day.ts';
import { nextPublication } from '../../../src/market/next-publication.ts';
import { publishedAt, SERIES_IDS } from '../../../src/market/series.ts';

const DAY = parseDay('2025-03-05');

describe('nextPublication', () => {
  it.each([
    ['btcClose', instantOf(DAY, 23, 59), instantOf(DAY + 1)],
    ['btcClose', instantOf(DAY + 1), instantOf(DAY + 2)],
    ['etfFlow', instantOf(DAY, 11), instantOf(DAY, 12)],
    ['etfFlow', instantOf(DAY, 12), instantOf(DAY + 1, 12)],
    ['pmi', instantOf(DAY, 14), instantOf(DAY, 15)],
    ['fearGreed', instantOf(DAY, 1), instantOf(DAY + 1)],
  ] as const)('of %s is the next instant at which that series is published', (series, atMs, expected) => {
    expect(nextPublication(series, atMs)).toBe(expected);
  });

  it('leaves nothing out that is published before it', () => {
    const property = fc.property(
      fc.constantFrom(...SERIES_IDS),
      fc.integer({ min: instantOf(DAY), max: instantOf(DAY + 3) }),
      (series, atMs) => {
        const next = nextPublication(series, atMs);
        const published = Array.from({ length: 12 }, (_, index) => publishedAt(series, DAY - 4 + index));
        expect(next).toBe(Math.min(...published.filter((ms) => ms > atMs)));
      },
    );
    fc.assert(property);
  });
});
