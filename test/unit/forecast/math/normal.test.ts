import { describe, expect, it } from 'vitest';
import { normalCdf, normalQuantile } from '../../../../src/forecast/math.ts';

describe('the standard normal distribution', () => {
  it('matches tabulated quantiles', () => {
    expect(normalQuantile(0.5)).toBe(0);
    expect(normalQuantile(0.975)).toBeCloseTo(1.959963984540054, 8);
    expect(normalQuantile(0.99)).toBeCloseTo(2.3263478740408408, 8);
    expect(normalQuantile(0.001)).toBeCloseTo(-3.090232306167813, 8);
  });

  it('matches tabulated probabilities', () => {
    expect(normalCdf(0)).toBeCloseTo(0.5, 7);
    expect(normalCdf(1)).toBeCloseTo(0.8413447460685429, 7);
    expect(normalCdf(-2)).toBeCloseTo(0.022750131948179195, 6);
    expect(normalCdf(40)).toBe(1);
    expect(normalCdf(-40)).toBe(0);
  });

  it('inverts the quantile, tails included', () => {
    for (const p of [1e-6, 0.0005, 0.02, 0.0242, 0.0243, 0.3, 0.5, 0.9, 0.9757, 0.9758, 0.999]) {
      expect(normalCdf(normalQuantile(p)), String(p)).toBeCloseTo(p, 6);
    }
  });
});
