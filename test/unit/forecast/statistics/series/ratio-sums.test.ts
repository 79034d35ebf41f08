import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { estimateRatio, type RatioPart, sumRatioParts } from '../../../../../src/forecast/record-statistics.ts';
import { seededRandom } from '../../synthetic-frame.ts';

const RANGE = { low: Number.NEGATIVE_INFINITY, high: Number.POSITIVE_INFINITY };
const part = fc.record({
  numerator: fc.double({ min: 0, max: 2, noNaN: true }),
  denominator: fc.double({ min: 0.1, max: 2, noNaN: true }),
});
const parts = fc
  .array(fc.option(part, { freq: 5 }), { minLength: 1, maxLength: 200 })
  .map((days) => days.flatMap((one, day): RatioPart[] => (one === null ? [] : [{ day, ...one }])));

describe('a ratio of sums', () => {
  it('is that of the days asked for, whatever lies around them', () => {
    fc.assert(
      fc.property(parts, fc.nat(200), fc.nat(200), (all, a, b) => {
        const [from, through] = [Math.min(a, b), Math.max(a, b)];
        const own = all.filter(({ day }) => day >= from && day <= through);
        const { value, low, high } = estimateRatio(sumRatioParts(all), { from, through }, RANGE);
        if (own.length === 0) {
          expect(value).toBeNull();
          return;
        }
        const [upper, lower] = (['numerator', 'denominator'] as const).map((key) => own.reduce((sum, one) => sum + one[key], 0));
        expect(value).toBeCloseTo(upper! / lower!, 9);
        if (low !== null && high !== null) expect(low <= value! && value! <= high).toBe(true);
      }),
    );
  });

  it('has an interval from five blocks on', () => {
    const days = (count: number) => sumRatioParts(Array.from({ length: count }, (_, day) => ({ day, numerator: day % 2, denominator: 1 })));
    expect(estimateRatio(days(56), { from: 0, through: 55 }, RANGE).low).toBeNull();
    expect(estimateRatio(days(70), { from: 0, through: 69 }, RANGE).low).not.toBeNull();
  });

  it('covers the truth in about 95 % of records with dependent days', () => {
    const random = seededRandom(11);
    let covered = 0;
    const runs = 400;
    for (let run = 0; run < runs; run++) {
      const drawn = Array.from({ length: 607 }, () => (random() < 0.5 ? 1 : 0));
      // A week's moving average: neighbouring days share six of seven draws.
      const own = Array.from({ length: 600 }, (_, day) => {
        const week = drawn.slice(day, day + 7).reduce((sum: number, value) => sum + value, 0) / 7;
        return { day, numerator: week, denominator: 1 };
      });
      const { low, high } = estimateRatio(sumRatioParts(own), { from: 0, through: 599 }, RANGE);
      if (low! <= 0.5 && high! >= 0.5) covered++;
    }
    expect(covered / runs).toBeGreaterThan(0.9);
    expect(covered / runs).toBeLessThan(0.985);
  });
});
