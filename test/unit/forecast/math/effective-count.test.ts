import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { computeEffectiveCount } from '../../../../src/forecast/bootstrap.ts';
import { horizon } from '../statistics/scored-forecasts.ts';

const gaps = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 80 });

/** Days from the distances between them. */
function daysOf(distances: readonly number[]): number[] {
  let day = 0;
  return distances.map((distance) => {
    day += distance;
    return day;
  });
}

describe('effective count of overlapping windows', () => {
  it('equals n for one-day windows and 0 without any', () => {
    fc.assert(
      fc.property(gaps, (distances) => {
        expect(computeEffectiveCount(daysOf(distances), 1)).toBe(distances.length);
      }),
    );
    expect(computeEffectiveCount([], 7)).toBe(0);
  });

  it('lies between n / h and n', () => {
    fc.assert(
      fc.property(gaps, horizon, (distances, h) => {
        const worth = computeEffectiveCount(daysOf(distances), h);
        expect(worth).toBeLessThanOrEqual(distances.length);
        expect(worth).toBeGreaterThanOrEqual(distances.length / h - 1e-9);
      }),
    );
  });

  it('does not decrease with longer gaps', () => {
    fc.assert(
      fc.property(gaps, fc.nat(79), horizon, (distances, at, h) => {
        const longer = distances.with(at % distances.length, distances[at % distances.length] + 1);
        expect(computeEffectiveCount(daysOf(longer), h)).toBeGreaterThanOrEqual(computeEffectiveCount(daysOf(distances), h) - 1e-9);
      }),
    );
  });

  it('equals n without overlap', () => {
    expect(computeEffectiveCount([0, 7, 14, 30], 7)).toBe(4);
  });

  it('is 1.5 for two windows that share half their days', () => {
    expect(computeEffectiveCount([0, 1], 2)).toBeCloseTo(4 / (2 + 2 / 3), 12);
  });

  it('is about 70 for a year of 7-day windows', () => {
    const year = Array.from({ length: 365 }, (_, day) => day);
    expect(computeEffectiveCount(year, 7)).toBeGreaterThan(69);
    expect(computeEffectiveCount(year, 7)).toBeLessThan(71);
  });
});
