import { describe, expect, it } from 'vitest';
import { computeRoundsInterval, MIN_RANKED_ROUNDS } from '../../../../src/contest/scoring/rounds-interval.ts';

describe('computeRoundsInterval', () => {
  it('returns null for too few rounds', () => {
    expect(computeRoundsInterval(0.1, 0.05, MIN_RANKED_ROUNDS - 1)).toBeNull();
    expect(computeRoundsInterval(0.1, 0.05, MIN_RANKED_ROUNDS)).not.toBeNull();
  });

  it('is centred on the mean, scales with the deviation and narrows with more rounds', () => {
    const { low, high } = computeRoundsInterval(0.02, 0.1, 9)!;
    expect((low + high) / 2).toBeCloseTo(0.02, 12);
    expect(high - low).toBeCloseTo((2 * 2.306 * 0.1) / 3, 3);
    const later = computeRoundsInterval(0.02, 0.1, 90)!;
    expect(later.high - later.low).toBeLessThan(high - low);
  });
});
