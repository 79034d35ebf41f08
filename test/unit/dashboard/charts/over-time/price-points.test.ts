import { expect, it } from 'vitest';
import { buildFan, cutBand, toPricePoints } from '../../../../../src/page/browser/charts/over-time.ts';
import type { ApiResponses } from '../../../../../src/page/browser/responses.ts';

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
