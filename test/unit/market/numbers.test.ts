import { describe, expect, it } from 'vitest';
import { computeChangePct, millionsToUsd, roundOrNull, subtractOrNull } from '../../../src/market/feed.ts';

describe('numbers', () => {
  it('have no binary rounding errors', () => {
    expect(roundOrNull(0.1 + 0.2, 3)).toBe(0.3);
    expect(roundOrNull(-1234.5678, 1)).toBe(-1234.6);
    expect(millionsToUsd(0.1 + 0.2)).toBe(300_000);
  });

  it.each([null, Number.NaN, Number.POSITIVE_INFINITY])('are null instead of %s', (value) => {
    expect(roundOrNull(value, 2)).toBeNull();
  });

  it('compute changes when both values are known', () => {
    expect(computeChangePct(80, 100)).toBe(25);
    expect([computeChangePct(null, 1), computeChangePct(1, null), computeChangePct(0, 1)]).toEqual([null, null, null]);
    expect([subtractOrNull(3, 5), subtractOrNull(null, 5), subtractOrNull(3, null)]).toEqual([2, null, null]);
  });
});
