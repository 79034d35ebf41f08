import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { computeCscv } from '../../../../../src/forecast/backtest/overfitting.ts';
import { between } from '../../../../support/record/arbitraries.ts';
import { seededRandom } from '../../synthetic-frame.ts';

const column = (length: number, lossOf: (day: number) => number) => Float64Array.from({ length }, (_, day) => lossOf(day));

describe('the probability of backtest overfitting', () => {
  it('evaluates every half of the blocks', () => {
    const { splits, blocks, blockDays } = computeCscv({ losses: [column(3420, () => 1), column(3420, () => 2)], blocks: 16 });
    expect({ splits, blocks, blockDays }).toEqual({ splits: 12_870, blocks: 16, blockDays: 213 });
  });

  it('is 0 when one variant is always best', () => {
    const random = seededRandom(1);
    const losses = [0.3, 0.1, 0.3, 0.3].map((level) => column(320, () => level + random() * 0.01));
    expect(computeCscv({ losses, blocks: 16 })).toMatchObject({ probability: 0, chosen: [0, 12_870, 0, 0] });
  });

  it('is 1 when in-sample winners lose out of sample', () => {
    // Each variant is best in two of four blocks and worst in the two others, so that the best of a half is the worst of the rest.
    const losses = [
      [0, 0, 1, 1],
      [1, 1, 0, 0],
    ].map((blocks) => column(8, (day) => blocks[Math.floor(day / 2)]));
    const { probability, splits } = computeCscv({ losses, blocks: 4 });
    expect(splits).toBe(6);
    // Four of the splits mix good and bad blocks: all equal, so that the first is taken and has the middle rank.
    expect(probability).toBe(1);
  });

  it('matches two variants and two blocks by hand', () => {
    const first = Float64Array.of(1, 1, 2, 2);
    // Better in block 0, worse in block 1.
    expect(computeCscv({ losses: [first, Float64Array.of(0, 0, 3, 3)], blocks: 2 })).toMatchObject({ probability: 1, chosen: [1, 1] });
    // Better in both.
    expect(computeCscv({ losses: [first, Float64Array.of(0, 0, 1, 1)], blocks: 2 })).toMatchObject({ probability: 0, chosen: [0, 2] });
  });

  it('ignores leftover days at the start', () => {
    const losses = [Float64Array.of(-100, 1, 2, 1, 2), Float64Array.of(100, 0, 1, 0, 1)];
    expect(computeCscv({ losses, blocks: 2 })).toMatchObject({ blockDays: 2, probability: 0, chosen: [0, 2] });
  });

  it('is about one half for pure noise', () => {
    const runs = Array.from({ length: 30 }, (_, seed) => {
      const random = seededRandom(seed + 1);
      return computeCscv({ losses: Array.from({ length: 12 }, () => column(240, random)), blocks: 8 }).probability;
    });
    const mean = runs.reduce((sum, one) => sum + one, 0) / runs.length;
    expect(mean).toBeGreaterThan(0.4);
    expect(mean).toBeLessThan(0.6);
  });

  it('is a share invariant to order and scale without ties', () => {
    const losses = fc.array(fc.array(between(0, 1), { minLength: 24, maxLength: 24 }), {
      minLength: 2,
      maxLength: 6,
    });
    fc.assert(
      fc.property(losses, (rows) => {
        const columns = rows.map((row, index) =>
          Float64Array.from(row, (loss, day) => Math.round(loss * 1e6) / 64 + (index + 1) * 2 ** -(day % 5)),
        );
        const { probability, chosen, splits } = computeCscv({ losses: columns, blocks: 4 });
        expect(probability).toBeGreaterThanOrEqual(0);
        expect(probability).toBeLessThanOrEqual(1);
        expect(chosen.reduce((sum, count) => sum + count, 0)).toBe(splits);
        // Twice the losses are the same bits apart from the exponent.
        expect(computeCscv({ losses: columns.map((one) => one.map((loss) => 2 * loss)), blocks: 4 }).probability).toBe(probability);
      }),
      { numRuns: 50 },
    );
  });
});
