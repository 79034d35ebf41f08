import { describe, expect, it } from 'vitest';
import { meanBetween, sumBetween, valueAt } from '../../../../src/market/reports/lookback.ts';
import { observationsOf } from '../support.ts';

const series = observationsOf('vix', [
  [100, 10],
  [101, 20],
  [104, 60],
]);

describe('looking back into a series', () => {
  it('finds the value of a day, or one shortly before it', () => {
    expect([valueAt(series, 101), valueAt(series, 103), valueAt(series, 99)]).toEqual([20, null, null]);
    expect([valueAt(series, 103, 2), valueAt(series, 103, 1), valueAt(series, 200, 96)]).toEqual([20, null, 60]);
  });

  it('sums and averages between two days, both included', () => {
    expect([sumBetween(series, 100, 101), sumBetween(series, 101, 104), sumBetween(series, 102, 103)]).toEqual([30, 80, null]);
    expect([meanBetween(series, 100, 104), meanBetween(series, 105, 200)]).toEqual([30, null]);
  });
});
