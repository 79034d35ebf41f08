import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { wilsonInterval } from '../../../../src/forecast/signal.ts';
import { computeReliabilityBins } from '../../../../src/forecast/statistics.ts';
import { between } from '../../../support/record/arbitraries.ts';

const probability = between(0, 1);
const judged = fc.array(fc.record({ p: probability, happened: fc.boolean() }));

describe('reliability bins', () => {
  it('contain every probability once within their bounds', () => {
    fc.assert(
      fc.property(judged, (items) => {
        const bins = computeReliabilityBins(items);
        expect(bins).toHaveLength(10);
        expect(bins.reduce((sum, { n }) => sum + n, 0)).toBe(items.length);
        const happened = bins.reduce((sum, { n, observedShare }) => sum + n * (observedShare ?? 0), 0);
        expect(happened).toBeCloseTo(items.filter((item) => item.happened).length, 6);
        for (const { from, to, n, meanProbability, observedShare, interval95 } of bins) {
          expect(interval95).toEqual(observedShare === null ? null : wilsonInterval(observedShare * n, n));
          if (n === 0) expect(meanProbability).toBeNull();
          else expect(meanProbability! >= from - 1e-9 && meanProbability! <= to + 1e-9).toBe(true);
        }
      }),
    );
  });

  it.each([
    [0, 0],
    [0.0999, 0],
    [0.1, 1],
    [0.5, 5],
    [0.95, 9],
    [1, 9],
  ])('put %d into bin %i', (p, index) => {
    expect(computeReliabilityBins([{ p, happened: true }])[index]).toMatchObject({ n: 1, meanProbability: p, observedShare: 1 });
  });

  it('have intervals on the effective count', () => {
    const items = Array.from({ length: 10 }, (_, index) => ({ p: 0.55, happened: index < 6, week: index % 2 }));
    const bins = computeReliabilityBins(items, (members) => new Set(members.map(({ week }) => week)).size);
    expect(bins[5]).toMatchObject({ n: 10, effectiveN: 2, interval95: wilsonInterval(1.2, 2) });
    expect(bins[4]).toMatchObject({ n: 0, effectiveN: 0, interval95: null });
  });

  it.each([-0.01, 1.01, Number.NaN])('reject %d', (p) => {
    expect(() => computeReliabilityBins([{ p, happened: true }])).toThrow(expect.objectContaining({ code: 'INPUT_INVALID' }));
  });
});
