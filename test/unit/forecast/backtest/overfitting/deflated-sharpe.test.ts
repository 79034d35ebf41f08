import { describe, expect, it } from 'vitest';
import {
  computeDeflatedSharpe,
  computeExpectedBestSharpe,
  computeReturnMoments,
  type ReturnMoments,
  sampleStandardDeviation,
} from '../../../../../src/forecast/backtest/overfitting.ts';

describe('the deflated Sharpe ratio', () => {
  /** The example of the paper: five years of daily returns with an annual ratio of 2.5, trials whose annual ratios have a variance of one half. */
  const example: ReturnMoments = { n: 1250, mean: 0, sharpe: 2.5 / Math.sqrt(250), skewness: -3, kurtosis: 10 };
  const deviation = Math.sqrt(1 / 2 / 250);

  it('matches the example of Bailey and Lopez de Prado (2014)', () => {
    const best = computeExpectedBestSharpe(100, deviation);
    expect(best).toBeCloseTo(0.1132, 4);
    expect(computeDeflatedSharpe(example, best)).toBeCloseTo(0.9004, 4);
    expect(computeDeflatedSharpe(example, computeExpectedBestSharpe(46, deviation))).toBeCloseTo(0.9505, 4);
  });

  it('is .95 for normal returns after 88 trials, as in the paper', () => {
    expect(computeDeflatedSharpe({ ...example, skewness: 0, kurtosis: 3 }, computeExpectedBestSharpe(88, deviation))).toBeCloseTo(
      0.9505,
      3,
    );
  });

  it('is one half at the expected best ratio', () => {
    expect(computeDeflatedSharpe(example, example.sharpe!)).toBeCloseTo(0.5, 7);
  });

  it('decreases with the number and deviation of trials', () => {
    const shares = [2, 10, 147, 1000].map((trials) => computeDeflatedSharpe(example, computeExpectedBestSharpe(trials, deviation))!);
    expect(shares).toEqual([...shares].sort((a, b) => b - a));
    expect(computeDeflatedSharpe(example, computeExpectedBestSharpe(100, 2 * deviation))).toBeLessThan(0.5);
  });

  it('is null without variance', () => {
    expect(computeDeflatedSharpe(computeReturnMoments([0.1, 0.1]), 0)).toBeNull();
    expect(computeDeflatedSharpe(computeReturnMoments([]), 0)).toBeNull();
  });
});

describe('moments of returns', () => {
  it('match values computed by hand', () => {
    const { n, mean, sharpe, skewness, kurtosis } = computeReturnMoments([0, 0, 0, 4]);
    expect([n, mean]).toEqual([4, 1]);
    // Variance 3, third central moment 6, fourth 21.
    expect(sharpe).toBeCloseTo(1 / Math.sqrt(3), 12);
    expect(skewness).toBeCloseTo(6 / 3 ** 1.5, 12);
    expect(kurtosis).toBeCloseTo(21 / 9, 12);
  });

  it('include the deviation of several ratios', () => {
    expect(sampleStandardDeviation([1, 2, 3, 4])).toBeCloseTo(Math.sqrt(5 / 3), 12);
    expect(sampleStandardDeviation([3])).toBe(0);
  });
});
