import { describe, expect, it } from 'vitest';
import { SortedColumn } from '../../../../src/forecast/math.ts';
import { seededRandom } from '../synthetic-frame.ts';

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
