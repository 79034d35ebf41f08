import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createScale } from '../../../../../src/page/browser/charts/figure.ts';
import {
  buildFan,
  type CrowdWeek,
  cutBand,
  extendToWholeTicks,
  type PricePoint,
  renderCrowdChart,
  renderPriceChart,
  renderProfitChart,
  renderSeriesChart,
  toPricePoints,
} from '../../../../../src/page/browser/charts/over-time.ts';
import type { Plot } from '../../../../../src/page/browser/charts/time-figure.ts';
import { selectNewest } from '../../../../../src/page/browser/parts/price.ts';
import { LANES, renderRegimeTimeline } from '../../../../../src/page/browser/parts/regimes.ts';
import type { ApiResponses } from '../../../../../src/page/browser/responses.ts';
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
describe('price chart', () => {
  it('draws the current price only near the last close', () => {
    const newest = { day: 100.5, price: 80_000 };
    expect(selectNewest(100, newest)).toBe(newest);
    expect(selectNewest(97, newest)).toBe(newest);
    expect(selectNewest(101, newest)).toBeNull();
    // During a replay the last close is months old.
    expect(selectNewest(96, newest)).toBeNull();
    expect(selectNewest(0, null)).toBeNull();
  });
});

describe('price points', () => {
  const DATE = '2026-03-01';

  /** Of a day, with these horizons. */
  function rangeOf(...horizonDays: number[]) {
    const opens = Date.parse(`${DATE}T00:00:00Z`) / 86_400_000 + 1;
    const at = (day: number) => new Date(day * 86_400_000).toISOString();
    const horizons = horizonDays.map((days) => ({
      horizon: `${days}d`,
      ranges: [0.5, 0.8, 0.9].map((share) => ({ share, low: 100 - 10 * share * days, high: 100 + 10 * share * days })),
      resolvesAt: at(opens + days),
    }));
    return { date: DATE, btcPrice: 100, windowOpensAt: at(opens), horizons } as unknown as ApiResponses['range'];
  }

  it('builds the fan of the newest day, by ascending end', () => {
    const fan = buildFan(rangeOf(1, 2, 7))!;
    expect(fan).toMatchObject({ date: DATE, price: 100, day: 20_514 });
    expect(fan.ends.map(({ day, horizon, range80 }) => [day - fan.day, horizon, range80.low])).toEqual([
      [1, '1d', 92],
      [2, '2d', 84],
      [7, '7d', 44],
    ]);
    expect(buildFan(null)).toBeNull();
    expect(buildFan(rangeOf())).toBeNull();
  });

  it('adds the ends of the fan to the days of the record', () => {
    const points = toPricePoints([], buildFan(rangeOf(1, 2)));
    expect(points.map(({ day, close, ahead }) => [day, close, ahead?.horizon])).toEqual([
      [20_515, null, '1d'],
      [20_516, null, '2d'],
    ]);
  });

  it('cuts a band where the chart begins', () => {
    const band = { low: 80, median: 100, high: 140 };
    const whole = { opens: 10, day: 14, price: 100, band };
    expect(cutBand({ ...whole, from: 5 })).toEqual({ day: 10, low: 100, median: 100, high: 100 });
    expect(cutBand({ ...whole, from: 12 })).toEqual({ day: 12, low: 90, median: 100, high: 120 });
    expect(cutBand({ ...whole, from: 14 })).toEqual({ day: 14, ...band });
  });
});

describe('profit chart', () => {
  it.each([
    [
      [0, -200, -560, -250],
      [-600, 0],
    ],
    [
      [0, 130],
      [0, 150],
    ],
    [
      [0, -3, 12],
      [-5, 15],
    ],
    [
      [0, 0],
      [0, 0],
    ],
    [
      [0, 0.000_001],
      [0, 0.000_001],
    ],
  ])('extends the profit axis of %j to whole ticks', (values, domain) => {
    const [low, high] = extendToWholeTicks(values);
    expect([low, high].map((value) => Number(value.toPrecision(6)) + 0)).toEqual(domain);
    const { ticks } = createScale([low, high], [0, 1], 4);
    if (low !== high) expect([ticks[0], ticks[ticks.length - 1]].map((tick) => Number(tick.toPrecision(6)) + 0)).toEqual(domain);
  });
});
