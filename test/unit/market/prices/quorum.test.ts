import { describe, expect, it } from 'vitest';
import type { VenueClose } from '../../../../src/market/feed.ts';
import { computeQuorumPrice, QUORUM_RULES } from '../../../../src/market/prices/quorum.ts';

const closes = (...prices: (number | null)[]): VenueClose[] => prices.map((priceUsd, index) => ({ venue: 'abcd'[index], priceUsd }));
const live = QUORUM_RULES.live;

describe('quorumPrice', () => {
  it('is the middle of three venues, with the distance of the farthest', () => {
    const price = computeQuorumPrice(closes(100.5, 100, 99.9), live);
    expect(price).toMatchObject({ priceUsd: 100, venues: ['a', 'b', 'c'] });
    expect(price.deviationBps).toBeCloseTo(50, 9);
  });

  it('is the mean of the two middle venues of four', () => {
    expect(computeQuorumPrice(closes(100, 100.4, 100.2, 99.8), live).priceUsd).toBeCloseTo(100.1, 12);
  });

  it('leaves missing and impossible prices out', () => {
    expect(computeQuorumPrice(closes(100, null, 100, 100), live).venues).toEqual(['a', 'c', 'd']);
    expect(() => computeQuorumPrice(closes(100, 100, 0, Number.NaN), live)).toThrow(/2 of the required 3 venues/);
  });

  it('names the missing venues and why they are missing', () => {
    const partial: VenueClose[] = [...closes(100, 100), { venue: 'kraken', priceUsd: null, reason: 'HTTP 503' }];
    expect(() => computeQuorumPrice(partial, live)).toThrow(
      expect.objectContaining({
        code: 'PRICE_UNAVAILABLE',
        retryable: true,
        message: '2 of the required 3 venues have a close; missing: kraken (HTTP 503)',
      }),
    );
  });

  it('names the values when they lie too far apart', () => {
    expect(() => computeQuorumPrice(closes(100, 100, 101.5), live)).toThrow(/150\.0 bps, more than 100: a 100, b 100, c 101\.5/);
    expect(computeQuorumPrice(closes(100, 100, 101), live).priceUsd).toBe(100);
  });

  it('needs one venue in a CSV or simulated market, and never none', () => {
    expect(computeQuorumPrice(closes(7), QUORUM_RULES.csv)).toEqual({ priceUsd: 7, venues: ['a'], deviationBps: 0 });
    expect(() => computeQuorumPrice([], { minVenues: 0, maxDeviationBps: 100 })).toThrow(/PRICE|venues/);
  });
});
