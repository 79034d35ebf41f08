import { describe, expect, it } from 'vitest';
import type { FeatureTable } from '../../../../src/forecast/inputs.ts';
import { describeRegimeFactors } from '../../../../src/forecast/regime.ts';

function factorsOf(gap200: number, ret30: number, fg7: number, vratio: number) {
  const column = (value: number) => Float64Array.of(value);
  return describeRegimeFactors(
    { gap200: column(gap200), ret30: column(ret30), fg7: column(fg7), vratio: column(vratio) } as FeatureTable,
    0,
  );
}

describe('describeRegimeFactors', () => {
  it('formats the figures', () => {
    expect(factorsOf(Math.log(1.123), Math.log(0.95), 61.8, 1.3)).toEqual({
      trendPosition: '12.3 % above the 200-day average',
      momentum: '-5.0 % in 30 days',
      sentiment: 'greed (Fear & Greed 62, 7-day mean)',
      volatility: '1.30 times its one-year median',
    });
    expect(factorsOf(Math.log(0.9), Math.log(1.2), 24.9, 0.8)).toMatchObject({
      trendPosition: '10.0 % below the 200-day average',
      momentum: '+20.0 % in 30 days',
      sentiment: 'extreme fear (Fear & Greed 25, 7-day mean)',
    });
  });

  it.each([
    [30, 'fear'],
    [50, 'neutral'],
    [80, 'extreme greed'],
  ])('names a reading of %d', (fearGreed, name) => {
    expect(factorsOf(0, 0, fearGreed, 1).sentiment).toMatch(new RegExp(`^${name} \\(`));
  });

  it('formats unknown inputs', () => {
    const missing = Number.NaN;
    for (const factor of Object.values(factorsOf(missing, missing, missing, missing))) expect(factor).toMatch(/^unknown: /);
  });
});
