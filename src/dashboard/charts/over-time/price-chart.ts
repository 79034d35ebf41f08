import { el } from '../../../views/markup.ts';
import { splitAtGaps } from '../../record/record-rows.ts';
import { buildBandPath, buildDiamondPath, buildLinePath, computeExtent, parseDayNumber } from '../chart.ts';
import type { Fan, PricePoint } from './price-points.ts';
import { createTimeFrame, type Plot, renderCrosshair, renderFrame, type TimeFrame } from './time-frame.ts';

/** Below this width per day, only outcomes outside their bands are marked. */
const MIN_DOT_PIXELS = 6;
const MAX_DAYS_AFTER_CLOSE = 4;

/** `$98.5k`. */
function formatShortUsd(value: number) {
  return Math.abs(value) < 10_000 ? `$${Math.round(value).toLocaleString('en-US')}` : `$${Number((value / 1_000).toFixed(1))}k`;
}

/** The current price; `day` with its elapsed fraction. */
export interface NewestPrice {
  day: number;
  price: number;
}

/**
 * What begins after the last close, unless it is days later: history is being replayed then, or the record has stopped.
 * @param last day of the last close
 */
export function selectNewest<T extends { day: number }>(last: number, newest: T | null) {
  return newest !== null && newest.day >= last && newest.day - last <= MAX_DAYS_AFTER_CLOSE ? newest : null;
}

interface PriceChartOptions {
  width: number;
  /** At least one, ascending. */
  points: readonly PricePoint[];
  newest: NewestPrice | null;
  fan: Fan | null;
}

/** Closes with the outcomes of the forecasts, the fan of today's ranges, and the band of the chosen forecast. */
export function renderPriceChart({ width, points, newest, fan }: PriceChartOptions): Plot {
  const lastDay = Math.max(points[points.length - 1].day, newest?.day ?? 0);
  const frame = createTimeFrame({
    width,
    height: width < 560 ? 260 : 340,
    days: [points[0].day, lastDay],
    values: computeExtent([...points.flatMap(listPrices), ...(newest === null ? [] : [newest.price])]),
    tick: formatShortUsd,
    tickCount: 7,
  });
  const { x } = frame;
  const pixelsPerDay = (frame.right - frame.left) / (lastDay - points[0].day + 1);
  return {
    svg: renderFrame(
      frame,
      fan === null ? null : renderFan(frame, fan),
      renderCloses(frame, points),
      newest === null ? null : renderNewestPrice(frame, points, newest),
      points.map((point) => renderOutcome(frame, point, pixelsPerDay)),
    ),
    xs: points.map(({ day }) => x(day)),
    mark: (index) => renderChosenDay(frame, points[index]),
  };
}

function listPrices({ close, band, ahead }: PricePoint) {
  return [
    ...(close === null ? [] : [close]),
    ...(band === null ? [] : [band.low, band.high]),
    ...(ahead === null ? [] : [ahead.range80.low, ahead.range80.high]),
  ];
}

/** The 80 % and 50 % ranges of today, from the price at signal time to the end of each horizon. */
function renderFan({ x, y }: TimeFrame, { day, price, ends }: Fan) {
  return (['range80', 'range50'] as const).map((range) =>
    el('path', {
      class: 'fan',
      d: buildBandPath([
        [x(day), y(price), y(price)],
        ...ends.map((end) => [x(end.day), y(end[range].high), y(end[range].low)] as [number, number, number]),
      ]),
    }),
  );
}

/** `h0` draws a single day as a point, with round line caps. */
function renderCloses({ x, y }: TimeFrame, points: readonly PricePoint[]) {
  const known = points.flatMap(({ day, close }) => (close === null ? [] : [{ day, close }]));
  return splitAtGaps(known).map((part) =>
    el('path', { class: 'price-line', d: `${buildLinePath(part.map(({ day, close }) => [x(day), y(close)]))}h0` }),
  );
}

function renderNewestPrice({ x, y }: TimeFrame, points: readonly PricePoint[], { day, price }: NewestPrice) {
  const last = points.findLast(({ close }) => close !== null);
  return [
    last === undefined ? null : el('line', { class: 'since', x1: x(last.day), y1: y(last.close ?? price), x2: x(day), y2: y(price) }),
    el('circle', { class: 'newest', cx: x(day).toFixed(1), cy: y(price).toFixed(1), r: 3.5 }),
  ];
}

/** A diamond outside the band; otherwise a dot, where there is room. */
function renderOutcome({ x, y }: TimeFrame, { day, close, fell }: PricePoint, pixelsPerDay: number) {
  if (close === null || fell === null) return null;
  if (fell !== 'inside') return el('path', { class: 'outside', d: buildDiamondPath(x(day), y(close), pixelsPerDay < 3 ? 3.5 : 5) });
  return pixelsPerDay < MIN_DOT_PIXELS ? null : el('circle', { class: 'inside', cx: x(day).toFixed(1), cy: y(close).toFixed(1), r: 3 });
}

function renderChosenDay(frame: TimeFrame, point: PricePoint) {
  const { x, y } = frame;
  const ends = point.ahead === null || point.band !== null ? [] : [point.ahead.range80.low, point.ahead.range80.high];
  return [renderBand(frame, point), renderCrosshair(frame, x(point.day), [...(point.close === null ? [] : [point.close]), ...ends].map(y))];
}

/** The band of the forecast that ends on the chosen day: a fan from the price at the opening of its window. */
function renderBand({ x, y }: TimeFrame, { day, band, row }: PricePoint) {
  if (band === null || row === null || row.btcAtSignal === null) return null;
  const start = cutBand({ from: x.domain[0], opens: parseDayNumber(row.windowOpensAt), day, price: row.btcAtSignal, band });
  return [
    el('path', {
      class: 'band',
      d: buildBandPath([
        [x(start.day), y(start.high), y(start.low)],
        [x(day), y(band.high), y(band.low)],
      ]),
    }),
    el('line', { class: 'median', x1: x(start.day), x2: x(day), y1: y(start.median), y2: y(band.median) }),
    el('line', { class: 'interval', x1: x(day), x2: x(day), y1: y(band.low), y2: y(band.high) }),
  ];
}

interface CutBandOptions {
  /** First day of the chart. */
  from: number;
  opens: number;
  day: number;
  /** Price at `opens`. */
  price: number;
  band: { low: number; median: number; high: number };
}

/** Where a band that opened before the chart enters it. */
export function cutBand({ from, opens, day, price, band: { low, median, high } }: CutBandOptions) {
  const share = Math.max(0, Math.min(1, (from - opens) / (day - opens)));
  const at = (end: number) => price + share * (end - price);
  return { day: Math.max(opens, Math.min(from, day)), low: at(low), median: at(median), high: at(high) };
}
