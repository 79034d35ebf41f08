import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type CrowdWeek,
  LANES,
  type PricePoint,
  renderCrowdChart,
  renderFoldsChart,
  renderPriceChart,
  renderProfitChart,
  renderRegimeTimeline,
  renderSeriesChart,
} from '../../../../../src/page/browser/charts/over-time.ts';
import type { Plot } from '../../../../../src/page/browser/charts/time-figure.ts';
import { findClipped } from '../view-box.ts';

const width = fc.constantFrom(220, 256, 326, 1_086);
const share = fc.double({ min: 0, max: 1, noNaN: true });
const day = fc.integer({ min: 15_000, max: 25_000 });

/** One to forty points on ascending days, some left out. */
function daysOf<T>(values: fc.Arbitrary<T>) {
  return fc.tuple(day, fc.array(fc.tuple(fc.integer({ min: 1, max: 12 }), values), { minLength: 1, maxLength: 40 })).map(([first, all]) => {
    let at = first;
    return all.map(([step, value]) => {
      at += step;
      return { ...value, day: at };
    });
  });
}

function expectWhole({ svg, xs, mark }: Plot, points: readonly unknown[]) {
  expect(xs).toHaveLength(points.length);
  expect(xs.every((x, index) => index === 0 || x > xs[index - 1])).toBe(true);
  expect(xs.flatMap((_, index) => findClipped(svg, mark(index)))).toEqual([]);
}

describe('every mark lies in the view box', () => {
  it('of a series', () => {
    const value = fc.tuple(fc.double({ min: -1, max: 1, noNaN: true }), fc.option(fc.double({ min: 0, max: 0.5, noNaN: true })));
    const point = value.map(([at, reach]) => ({
      value: at,
      low: reach === null ? null : at - reach,
      high: reach === null ? null : at + reach,
    }));
    fc.assert(
      fc.property(width, daysOf(point), (wide, points) => {
        const tick = (one: number) => `${(100 * one).toFixed(1)} %`;
        expectWhole(renderSeriesChart({ width: wide, points, reference: 0, tick }), points);
      }),
    );
  });

  it('of the profit', () => {
    const point = fc.integer({ min: -10_000, max: 10_000 }).map((profit) => ({ profit }));
    fc.assert(
      fc.property(width, daysOf(point), fc.boolean(), (wide, all, isCut) => {
        const [before, points] = isCut && all.length > 1 ? [all[0], all.slice(1)] : [null, all];
        expectWhole(renderProfitChart({ width: wide, points, before }), points);
      }),
    );
  });

  it('of the crowd', () => {
    const week = fc.record({ marketProbability: share, oracleProbability: fc.option(share), winner: fc.constantFrom('YES', 'NO', null) });
    fc.assert(
      fc.property(width, daysOf(week), (wide, weeks) => {
        expectWhole(renderCrowdChart({ width: wide, points: weeks as unknown as CrowdWeek[] }), weeks);
      }),
    );
  });

  it('of the folds', () => {
    const fold = fc.record({ base: share, accuracy: share, year: fc.integer({ min: 2011, max: 2030 }) });
    fc.assert(
      fc.property(width, fc.array(fold, { minLength: 1, maxLength: 24 }), (wide, all) => {
        const points = all.map((one, index) => ({ ...one, day: index + 1, from: `${one.year}-01-01` }));
        expectWhole(renderFoldsChart({ width: wide, points }), points);
      }),
    );
  });

  it('of the regimes', () => {
    const run = fc.tuple(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 0, max: LANES.length - 1 }));
    fc.assert(
      fc.property(width, day, fc.array(run, { minLength: 1, maxLength: 30 }), fc.boolean(), (wide, first, lengths, isCut) => {
        let next = first;
        const runs = lengths.map(([days, lane]) => {
          const start = next;
          next += days;
          return { ...LANES[lane], first: start, last: next - 1, days };
        });
        const from = isCut ? runs[0].last : Number.NEGATIVE_INFINITY;
        expectWhole(renderRegimeTimeline({ width: wide, runs, from }), runs);
      }),
    );
  });

  it('of the prices, with the fan and the band of every chosen day', () => {
    const price = fc.integer({ min: 1_000, max: 200_000 });
    const banded = fc.tuple(price, price, share, fc.integer({ min: 1, max: 7 }), fc.constantFrom('inside', 'above', null));
    const point = fc
      .option(banded)
      .map((values) => (values === null ? { close: null, band: null, row: null, fell: null } : toBanded(values)));
    const reach = fc.tuple(price, share, fc.boolean());
    fc.assert(
      fc.property(width, daysOf(point), reach, (wide, days, [now, half, hasFan]) => {
        const range = (part: number) => ({ low: now * (1 - part / 2), high: now * (1 + part / 2) });
        const last = days[days.length - 1].day;
        const ends = [1, 3, 7].map((ahead) => ({
          day: last + ahead,
          horizon: `${ahead}d`,
          range50: range(half / 2),
          range80: range(half),
        }));
        const known = days.map((one) => ({ ...one, row: withWindow(one) }));
        const future = ends.map((ahead) => ({ day: ahead.day, close: null, band: null, row: null, fell: null, ahead }));
        const points = [...known.map((one) => ({ ...one, ahead: null })), ...(hasFan ? future : [])] as unknown as PricePoint[];
        const fan = hasFan ? { day: last, price: now, date: '2026-03-01', ends } : null;
        expectWhole(renderPriceChart({ width: wide, points, newest: { day: last + 0.5, price: now }, fan }), points);
      }),
    );
  });
});

function toBanded([close, signal, half, length, fell]: [number, number, number, number, string | null]) {
  const band = { low: signal * (1 - half / 2), median: signal, high: signal * (1 + half / 2) };
  return { close, band, fell, row: { btcAtSignal: signal, length } };
}

/** A forecast whose window opened as many days before as it is long, before the first day of the chart as well. */
function withWindow({ day: end, row }: { day: number; row: { btcAtSignal: number; length: number } | null }) {
  return row === null ? null : { ...row, windowOpensAt: new Date((end - row.length) * 86_400_000).toISOString() };
}
