import fc from 'fast-check';
import { expect, it } from 'vitest';
import { computeFan, FAN_SIZE, type Point, type RangeData, renderFan } from '../../../../src/page/first-screen.ts';
import { renderMarkup } from '../../../../src/page/markup.ts';
import { RANGE, screen } from './fixtures.ts';

const HOUR_MS = 3_600_000;

/** Ranges of any width, which grow with the horizon and the share. */
const ranges = fc
  .record({
    btcPrice: fc.double({ min: 100, max: 1e6, noNaN: true }),
    widths: fc.array(fc.double({ min: 1e-4, max: 0.3, noNaN: true }), { minLength: 4, maxLength: 4 }),
    steps: fc.tuple(fc.double({ min: 0.1, max: 1, noNaN: true }), fc.double({ min: 0.1, max: 1, noNaN: true })),
  })
  .map(({ btcPrice, widths, steps }): RangeData => {
    const horizons = RANGE.horizons!.map((row, index) => {
      const outer = widths.slice(0, index + 1).reduce((sum, width) => sum + width, 0);
      const halves = [outer * steps[0] * steps[1], outer * steps[0], outer];
      const found = row.ranges.map(({ share }, place) => {
        const half = halves[place]!;
        return { share, low: btcPrice * Math.exp(-half), high: btcPrice * Math.exp(half) };
      });
      return { ...row, ranges: found };
    });
    return { ...RANGE, btcPrice, horizons };
  });

it('nests its bands and stays within its box, wherever the price is', () => {
  const price = fc.record({ price: fc.double({ min: 1, max: 2e6, noNaN: true }), hours: fc.integer({ min: -500, max: 170 }) });
  fc.assert(
    fc.property(ranges, price, (range, { price: now, hours }) => {
      const timestamp = new Date(Date.parse(RANGE.timestamp) + hours * HOUR_MS).toISOString();
      const fan = computeFan(range, { price: now, timestamp })!;
      const points: Point[] = [...fan.bands.flatMap((band) => [...band.points]), fan.start, fan.now!];
      for (const { x, y } of points) {
        for (const value of [x, y]) expect(value).toBeGreaterThanOrEqual(0);
        for (const value of [x, y]) expect(value).toBeLessThanOrEqual(FAN_SIZE);
      }
      expect(fan.bands.map(({ share }) => share)).toEqual([0.9, 0.8, 0.5]);
      for (const [index, inner] of fan.bands.slice(1).entries()) {
        const outer = fan.bands[index]!.points;
        const half = (outer.length - 1) / 2;
        for (const [place, { x, y }] of inner.points.entries()) {
          expect(x).toBe(outer[place]!.x);
          if (place >= 1 && place <= half) expect(y).toBeGreaterThanOrEqual(outer[place]!.y - 1e-9);
          if (place > half) expect(y).toBeLessThanOrEqual(outer[place]!.y + 1e-9);
        }
      }
      for (const { y } of fan.ticks) expect(y).toBeLessThanOrEqual(FAN_SIZE);
    }),
  );
});

it('ends each window at its time, the longest at the right', () => {
  const fan = computeFan(RANGE, null)!;
  expect(fan.ends.map(({ x }) => Math.round(10 * x) / 10)).toEqual([15.5, 29.6, 43.7, 100]);
  expect(fan.now).toBeNull();
  expect(computeFan(RANGE, { price: 80_000, timestamp: '2026-11-30T00:00:01.000Z' })!.now).toBeNull();
});

it('is drawn without a number that is none, and empty without ranges', () => {
  const full = renderMarkup(renderFan(screen()));
  expect(full).not.toMatch(/NaN|undefined|Infinity/);
  expect(full).toMatch(/fan-90.*fan-80.*fan-50/s);
  expect(full).not.toContain('fan-own');
  expect(renderMarkup(renderFan(screen({ range: null })))).toBe('<svg class="fan" aria-hidden="true"></svg>');
});

it('has the range of the forecast itself for readers with it', () => {
  const own = { low: 60_000, median: 81_000, high: 84_000 };
  const { access, ...rest } = screen();
  expect(renderMarkup(renderFan({ ...rest, access: { ...access, own } }))).toContain('fan-own');
});
