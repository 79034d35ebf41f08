import { describe, expect, it } from 'vitest';
import type { VenueClose } from '../../../src/market/feed.ts';
import { findLenientRange, findQuorumRange } from '../../../src/market/live/collect.ts';
import { computeQuorumPrice, QUORUM_RULES, type VenueRange } from '../../../src/market/quorum.ts';

const closes = (...prices: (number | null)[]): VenueClose[] => prices.map((priceUsd, index) => ({ venue: 'abcd'[index], priceUsd }));
const live = QUORUM_RULES.live;

describe('computeQuorumPrice', () => {
  it('returns the median of three venues and the maximum deviation', () => {
    const price = computeQuorumPrice(closes(100.5, 100, 99.9), live);
    expect(price).toMatchObject({ priceUsd: 100, venues: ['a', 'b', 'c'] });
    expect(price.deviationBps).toBeCloseTo(50, 9);
  });

  it('returns the mean of the two middle prices of four venues', () => {
    expect(computeQuorumPrice(closes(100, 100.4, 100.2, 99.8), live).priceUsd).toBeCloseTo(100.1, 12);
  });

  it('excludes missing and invalid prices', () => {
    expect(computeQuorumPrice(closes(100, null, 100, 100), live).venues).toEqual(['a', 'c', 'd']);
    expect(() => computeQuorumPrice(closes(100, 100, 0, Number.NaN), live)).toThrow(/2 of the required 3 venues/);
  });

  it('throws with the missing venues and their reasons', () => {
    const partial: VenueClose[] = [...closes(100, 100), { venue: 'kraken', priceUsd: null, reason: 'HTTP 503' }];
    expect(() => computeQuorumPrice(partial, live)).toThrow(
      expect.objectContaining({
        code: 'PRICE_UNAVAILABLE',
        retryable: true,
        message: '2 of the required 3 venues have a close; missing: kraken (HTTP 503)',
      }),
    );
  });

  it('throws with the prices when they diverge', () => {
    expect(() => computeQuorumPrice(closes(100, 100, 101.5), live)).toThrow(/150\.0 bps, more than 100: a 100, b 100, c 101\.5/);
    expect(computeQuorumPrice(closes(100, 100, 101), live).priceUsd).toBe(100);
  });

  it('requires one venue in a CSV or simulated market', () => {
    expect(computeQuorumPrice(closes(7), QUORUM_RULES.csv)).toEqual({ priceUsd: 7, venues: ['a'], deviationBps: 0 });
    expect(() => computeQuorumPrice([], { minVenues: 0, maxDeviationBps: 100 })).toThrow(/PRICE|venues/);
  });
});
const rule = { minVenues: 3 };
const ranges = (...pairs: [highUsd: number, lowUsd: number][]): VenueRange[] =>
  pairs.map(([highUsd, lowUsd], index) => ({ venue: 'abcd'[index], highUsd, lowUsd }));

describe('findQuorumRange', () => {
  it('returns the medians of highs and lows', () => {
    expect(findQuorumRange(ranges([110, 90], [111, 91], [112, 89]), rule)).toEqual({ highUsd: 111, lowUsd: 90 });
    expect(findQuorumRange(ranges([110, 90], [111, 91], [112, 89], [110.4, 90.4]), rule)).toEqual({ highUsd: 110.7, lowUsd: 90.2 });
  });

  it.each([
    ['high', [165, 90]],
    ['low', [110, 45]],
  ] as const)('drops the venue with a bad tick in the %s on that side only', (_, [high, low]) => {
    expect(findQuorumRange(ranges([high, low], [110, 90], [111, 91], [112, 89]), rule)).toEqual({
      highUsd: high === 165 ? 111 : 110.5,
      lowUsd: 90,
    });
  });

  it('keeps extremes that differ by up to 3 %', () => {
    expect(findQuorumRange(ranges([113, 90], [110, 90], [110, 92.6]), rule)).toEqual({ highUsd: 110, lowUsd: 90 });
    expect(findQuorumRange(ranges([114, 90], [110, 90], [110, 90]), rule)).toBeNull();
  });

  it('returns null below the quorum, and when only one side has one', () => {
    expect(findQuorumRange(ranges([110, 90], [110, 90]), rule)).toBeNull();
    expect(findQuorumRange(ranges([110, 90], [110, 90], [110, 45]), rule)).toBeNull();
    expect(findQuorumRange([], rule)).toBeNull();
  });
});

describe('findLenientRange', () => {
  it('prefers the quorum', () => {
    expect(findLenientRange(ranges([110, 90], [111, 91], [112, 89]), rule)).toEqual({ highUsd: 111, lowUsd: 90 });
  });

  it('accepts two venues in agreement, also beside a third', () => {
    expect(findLenientRange(ranges([110, 90], [112, 92]), rule)).toEqual({ highUsd: 111, lowUsd: 91 });
    expect(findLenientRange(ranges([110, 90], [112, 92], [165, 91]), rule)).toEqual({ highUsd: 111, lowUsd: 91 });
  });

  it('returns null for one venue, and for two that differ', () => {
    expect(findLenientRange(ranges([110, 90]), rule)).toBeNull();
    expect(findLenientRange(ranges([110, 90], [165, 90]), rule)).toBeNull();
  });
});
