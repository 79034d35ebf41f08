import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  createDayRange,
  DAY_RANGES,
  findPoint,
  formatRange,
  isRangeUseful,
  resolveRange,
  selectDays,
} from '../../../../../src/page/browser/charts/time-figure.ts';
import { emptyStorage } from '../page-globals.ts';

describe('day range', () => {
  const ALL = Number.POSITIVE_INFINITY;

  it('starts with 90 days and keeps the choice for the session', () => {
    const storage = emptyStorage();
    const range = createDayRange(storage);
    expect(range.value).toBe(90);
    range.set(ALL);
    expect(createDayRange(storage).value).toBe(ALL);
    storage.setItem('oracle-chart-days', 'a week');
    expect(createDayRange(storage).value).toBe(90);
  });

  it('notifies each chart once, however often it was built', () => {
    const range = createDayRange(emptyStorage());
    const seen: string[] = [];
    for (const name of ['price, old', 'price, new']) range.follow('price', () => seen.push(name));
    range.follow('regimes', () => seen.push('regimes'));
    range.set(30);
    expect(seen).toEqual(['price, new', 'regimes']);
  });

  it('offers the ranges that leave out a day, and all days', () => {
    const offered = (days: number) => DAY_RANGES.filter((range) => isRangeUseful(range, days)).map(formatRange);
    expect(offered(1)).toEqual(['All days']);
    expect(offered(90)).toEqual(['30 days', 'All days']);
    expect(offered(366)).toEqual(['30 days', '90 days', '365 days', 'All days']);
    expect(resolveRange(90, 90)).toBe(ALL);
    expect(resolveRange(90, 91)).toBe(90);
  });

  it('selects the last days, all later points and the point before', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.integer({ min: 0, max: 500 }), { minLength: 1 }), fc.constantFrom(...DAY_RANGES), (numbers, range) => {
        const points = numbers.toSorted((a, b) => a - b).map((day) => ({ day }));
        const lastDay = points[Math.floor(points.length / 2)].day;
        const { shown, before, from } = selectDays({ points, range, lastDay });
        expect(shown).toEqual(points.filter(({ day }) => day > lastDay - range));
        expect(before).toEqual(points.findLast(({ day }) => day <= lastDay - range) ?? null);
        expect(from).toBe(lastDay - range + 1);
      }),
    );
  });
});

describe('point reader', () => {
  const positions = fc
    .uniqueArray(fc.integer({ min: 0, max: 1_000 }), { minLength: 1, maxLength: 40 })
    .map((xs) => xs.toSorted((a, b) => a - b));
  const pixel = fc.integer({ min: -100, max: 1_100 });

  it('finds the nearest point', () => {
    fc.assert(
      fc.property(positions, pixel, (xs, x) => {
        const found = Math.abs(xs[findPoint(xs, x, false)] - x);
        expect(found).toBe(Math.min(...xs.map((one) => Math.abs(one - x))));
      }),
    );
  });

  it('finds the last stepped point that has begun, or the first', () => {
    fc.assert(
      fc.property(positions, pixel, (xs, x) => {
        const begun = xs.findLastIndex((one) => one <= x);
        expect(findPoint(xs, x, true)).toBe(Math.max(0, begun));
      }),
    );
  });
});
