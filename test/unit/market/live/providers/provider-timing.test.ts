import { describe, expect, it } from 'vitest';
import { computeBackoffMs, PROVIDER_TIMING } from '../../../../../src/market/live/providers.ts';

describe('computeBackoffMs', () => {
  it.each([
    [1, 500, 2_000],
    [2, 500, 8_000],
    [9, 500, 8_000],
  ])('retry %d waits %d to %d ms', (retry, shortest, longest) => {
    expect(computeBackoffMs(PROVIDER_TIMING, retry, () => 0)).toBe(shortest);
    expect(computeBackoffMs(PROVIDER_TIMING, retry, () => 1)).toBe(longest);
    expect(computeBackoffMs(PROVIDER_TIMING, retry, () => 0.5)).toBe((shortest + longest) / 2);
  });
});
