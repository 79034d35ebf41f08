import { describe, expect, it } from 'vitest';
import { averageBetween, findValueAt, sumBetween } from '../../../../src/market/series.ts';
import { buildObservations } from '../memory-feed.ts';

const series = buildObservations('vix', [
  [100, 10],
  [101, 20],
  [104, 60],
]);

describe('lookback', () => {
  it('findValueAt returns the value of a day or one within the tolerance', () => {
    expect([findValueAt(series, 101), findValueAt(series, 103), findValueAt(series, 99)]).toEqual([20, null, null]);
    expect([findValueAt(series, 103, 2), findValueAt(series, 103, 1), findValueAt(series, 200, 96)]).toEqual([20, null, 60]);
  });

  it('sums and averages between two days, both included', () => {
    expect([sumBetween(series, 100, 101), sumBetween(series, 101, 104), sumBetween(series, 102, 103)]).toEqual([30, 80, null]);
    expect([averageBetween(series, 100, 104), averageBetween(series, 105, 200)]).toEqual([30, null]);
  });
});
