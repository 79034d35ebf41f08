import { describe, expect, it } from 'vitest';
import { createRandomness, type Randomness } from '../../../../src/market/simulated.ts';

const COUNT = 40_000;
const { uniform, normal, fatTailed } = createRandomness(3, 'test');

function moments(draw: (day: number) => number) {
  const values = Array.from({ length: COUNT }, (_, day) => draw(day));
  const mean = values.reduce((sum, x) => sum + x, 0) / COUNT;
  const power = (k: number) => values.reduce((sum, x) => sum + (x - mean) ** k, 0) / COUNT;
  return { mean, variance: power(2), kurtosis: power(4) / power(2) ** 2 };
}

describe('createRandomness', () => {
  it('draws uniform numbers', () => {
    const { mean, variance } = moments(uniform);
    expect(mean).toBeCloseTo(0.5, 2);
    expect(variance).toBeCloseTo(1 / 12, 2);
  });

  it('draws normal numbers', () => {
    const { mean, variance, kurtosis } = moments(normal);
    expect(Math.abs(mean)).toBeLessThan(0.02);
    expect(Math.abs(variance - 1)).toBeLessThan(0.03);
    expect(Math.abs(kurtosis - 3)).toBeLessThan(0.15);
  });

  it('draws fat-tailed numbers of unit variance', () => {
    const { mean, variance, kurtosis } = moments(fatTailed);
    expect(Math.abs(mean)).toBeLessThan(0.02);
    expect(Math.abs(variance - 0.95)).toBeLessThan(0.05);
    expect(kurtosis).toBeGreaterThan(5);
  });

  it('separates days, draws, seeds and streams', () => {
    const correlation = (a: (day: number) => number, b: (day: number) => number) => {
      let sum = 0;
      for (let day = 0; day < COUNT; day++) sum += a(day) * b(day);
      return Math.abs(sum / COUNT);
    };
    const others: Randomness[] = [createRandomness(4, 'test'), createRandomness(3, 'tesu')];
    for (const other of others) expect(correlation(normal, (day) => other.normal(day))).toBeLessThan(0.02);
    expect(correlation(normal, (day) => normal(day + 1))).toBeLessThan(0.02);
    expect(correlation(normal, (day) => normal(day, 1))).toBeLessThan(0.02);
    expect(correlation(normal, (day) => fatTailed(day))).toBeLessThan(0.02);
    expect(correlation(normal, (day) => uniform(day) - 0.5)).toBeLessThan(0.02);
  });
});
