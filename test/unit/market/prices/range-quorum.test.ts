import { describe, expect, it } from 'vitest';
import { findLenientRange, findQuorumRange, type VenueRange } from '../../../../src/market/quorum.ts';

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
