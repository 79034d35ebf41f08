import { describe, expect, it } from 'vitest';
import { computeBackoffMs, PROVIDER_TIMING } from '../../../../../src/market/live/providers/provider-timing.ts';

describe('backoffMs', () => {
  it.each([
    [1, 500, 2_000],
    [2, 500, 8_000],
    [9, 500, 8_000],
  ])('before retry %d waits from %d to %d ms', (retry, shortest, longest) => {
    expect(computeBackoffMs(PROVIDER_TIMING, retry, () => 0)).toBe(shortest);
    expect(computeBackoffMs(PROVIDER_TIMING, retry, () => 1)).toBe(longest);
    expect(computeBackoffMs(PROVIDER_TIMING, retry, () => 0.5)).toBe((shortest + longest) / 2);
  });
});
