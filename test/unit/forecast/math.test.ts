import { describe, expect, it } from 'vitest';
import { normalCdf, normalQuantile, SortedColumn } from '../../../src/forecast/math.ts';
import { seededRandom } from './synthetic-frame.ts';

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
describe('SortedColumn', () => {
  it('returns what sorting the rows would, with ties and without what is not finite', () => {
    const random = seededRandom(7);
    const column = Float64Array.from({ length: 300 }, () => (random() < 0.1 ? Number.NaN : Math.floor(random() * 20)));
    column[5] = Number.POSITIVE_INFINITY;
    const sorted = new SortedColumn(column);
    for (const [from, to] of [
      [0, 300],
      [3, 9],
      [100, 250],
      [40, 40],
    ]) {
      expect([...sorted.valuesBetween(from, to)]).toEqual([...column.slice(from, to).filter(Number.isFinite).sort()]);
    }
  });
});
