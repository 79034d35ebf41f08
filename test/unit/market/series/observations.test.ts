import { describe, expect, it } from 'vitest';
import { countUpTo, findLastKnownIndex, sliceKnownAt } from '../../../../src/market/series.ts';
import { buildObservations } from '../memory-feed.ts';

const series = buildObservations('gold', [
  [10, 1],
  [11, 2],
  [14, 3],
]);
const late = { ...series, availableAt: Float64Array.of(100, 300, 300) };

describe('countUpTo', () => {
  it.each([
    [9, 0],
    [10, 1],
    [12, 2],
    [14, 3],
    [99, 3],
  ])('counts the entries up to %d as %d', (limit, count) => {
    expect(countUpTo(series.days, limit)).toBe(count);
  });

  it('ignores entries beyond the given length', () => {
    expect(countUpTo(series.days, 99, 2)).toBe(2);
  });
});

describe('findLastKnownIndex', () => {
  it('requires both the date and the publication time', () => {
    expect(findLastKnownIndex(late, 12, 1000)).toBe(1);
    expect(findLastKnownIndex(late, 12, 299)).toBe(0);
    expect(findLastKnownIndex(late, 9, 1000)).toBe(-1);
    expect(findLastKnownIndex(late, 99, 99)).toBe(-1);
  });
});

describe('sliceKnownAt', () => {
  it('slices all columns at the instant', () => {
    expect(sliceKnownAt(late, 299)).toEqual({
      ...late,
      days: Int32Array.of(10),
      values: Float64Array.of(1),
      availableAt: Float64Array.of(100),
    });
  });
});
