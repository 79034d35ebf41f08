import { s } from '../lib/dom.ts';
import { type PriceDay, splitAtGaps } from '../record/record-rows.ts';
import {
  buildBandPath,
  buildLinePath,
  computeExtent,
  createChartSvg,
  createScale,
  placeDayTicks,
  renderHorizontalGrid,
  renderVerticalGrid,
  type Scale,
} from './chart.ts';
import { buildDiamondPath } from './forest-plot.ts';
import { measureTextWidth } from './text-layout.ts';

const MARGIN = { top: 10, right: 14, bottom: 26, left: 48 };
/** Below this width per day, the bars are drawn as a continuous band. */
const MIN_BAR_PIXELS = 6;
const MAX_DAYS_AFTER_CLOSE = 4;
/** Pixels around the labels of the price axis. */
const LABEL_GAPS = 8;

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
 * The current price, unless it is days after the last close: history is being replayed then, or the record has stopped.
 * @param last day of the last close
 */
export function selectNewestPrice(last: number, newest: NewestPrice | null) {
  return newest !== null && newest.day > last && newest.day - last <= MAX_DAYS_AFTER_CLOSE ? newest : null;
}

/**
 * Closes, the 80 % bands of the forecasts, and outcomes outside them. Bands of unresolved forecasts are dashed.
 * @param options `days`: at least one, ascending
 */
export function renderPriceChart({ width, days, newest }: { width: number; days: readonly PriceDay[]; newest: NewestPrice | null }) {
  const height = width < 560 ? 260 : 340;
  const right = width - MARGIN.right;
  const bottom = height - MARGIN.bottom;
  const first = days[0].day;
  const last = Math.max(days[days.length - 1].day, newest?.day ?? 0);
  const y = createScale(computeExtent([...collectPrices(days), ...(newest === null ? [] : [newest.price])]), [bottom, MARGIN.top], 7);
  // Labels such as `$100.1k` need more room than `$98k`.
  const left = Math.max(MARGIN.left, ...y.ticks.map((price) => Math.ceil(measureTextWidth(formatShortUsd(price))) + LABEL_GAPS));
  const x = createScale([first - 0.5, last + 0.5], [left, right]);
  const ticks = placeDayTicks(x, [left, right], [first, last]);
  const pixelsPerDay = (right - left) / (last - first + 1);
  const cursor = s('line', { class: 'cursor', y1: MARGIN.top, y2: bottom });
  const svg = createChartSvg(
    { width, height },
    renderHorizontalGrid({ y, left, right, label: formatShortUsd }),
    renderVerticalGrid({ ticks, top: MARGIN.top, bottom, width }),
    pixelsPerDay >= MIN_BAR_PIXELS ? renderBars({ days, x, y, wide: Math.min(12, pixelsPerDay * 0.6) }) : renderBands({ days, x, y }),
    renderCloses({ days, x, y }),
    newest === null ? null : renderNewestPrice({ days, newest, x, y }),
    renderOutcomes({ days, x, y, dots: pixelsPerDay >= MIN_BAR_PIXELS, radius: pixelsPerDay < 3 ? 3.5 : 5 }),
    cursor,
  );
  svg.classList.add('read');
  return { svg, xs: days.map(({ day }) => x(day)), mark: createCursor({ days, x, cursor }) };
}

function createCursor({ days, x, cursor }: { days: readonly PriceDay[]; x: Scale; cursor: SVGLineElement }) {
  return (index: number) => {
    cursor.setAttribute('x1', x(days[index].day).toFixed(1));
    cursor.setAttribute('x2', x(days[index].day).toFixed(1));
  };
}

function collectPrices(days: readonly PriceDay[]) {
  return days.flatMap(({ close, band }) => [...(close === null ? [] : [close]), ...(band === null ? [] : [band.low, band.high])]);
}

function renderBars({ days, x, y, wide }: { days: readonly PriceDay[]; x: Scale; y: Scale; wide: number }) {
  return days.map(({ day, band, fell }) =>
    band === null
      ? null
      : s('g', {}, [
          s('rect', {
            class: fell === null ? 'bar ahead' : 'bar',
            x: (x(day) - wide / 2).toFixed(1),
            y: y(band.high).toFixed(1),
            width: wide.toFixed(1),
            height: Math.max(0, y(band.low) - y(band.high)).toFixed(1),
            rx: 2,
          }),
          s('line', { class: 'median', x1: x(day) - wide / 2, x2: x(day) + wide / 2, y1: y(band.median), y2: y(band.median) }),
        ]),
  );
}

function renderBands({ days, x, y }: { days: readonly PriceDay[]; x: Scale; y: Scale }) {
  return ['over', 'ahead'].flatMap((which) =>
    splitAtGaps(days.filter(({ band, fell }) => band !== null && (fell === null) === (which === 'ahead'))).flatMap((part) => {
      const visibleBands = part.flatMap(({ day, band }) => (band === null ? [] : [{ at: x(day), band }]));
      return [
        s('path', {
          class: which === 'ahead' ? 'band ahead' : 'band',
          d: buildBandPath(visibleBands.map(({ at, band }) => [at, y(band.high), y(band.low)])),
        }),
        s('path', { class: 'median', d: buildLinePath(visibleBands.map(({ at, band }) => [at, y(band.median)])) }),
      ];
    }),
  );
}

/** `h0` draws a single day as a point, with round line caps. */
function renderCloses({ days, x, y }: { days: readonly PriceDay[]; x: Scale; y: Scale }) {
  const known = days.flatMap(({ day, close }) => (close === null ? [] : [{ day, close }]));
  return splitAtGaps(known).map((part) =>
    s('path', { class: 'price-line', d: `${buildLinePath(part.map(({ day, close }) => [x(day), y(close)]))}h0` }),
  );
}

function renderNewestPrice({ days, newest: { day, price }, x, y }: { days: readonly PriceDay[]; newest: NewestPrice; x: Scale; y: Scale }) {
  const last = days.findLast(({ close }) => close !== null);
  return s('g', {}, [
    last === undefined ? null : s('line', { class: 'since', x1: x(last.day), y1: y(last.close ?? price), x2: x(day), y2: y(price) }),
    s('circle', { class: 'newest', cx: x(day).toFixed(1), cy: y(price).toFixed(1), r: 3.5 }),
  ]);
}

/** A diamond outside the band; otherwise a dot, where there is room. */
function renderOutcomes({ days, x, y, dots, radius }: { days: readonly PriceDay[]; x: Scale; y: Scale; dots: boolean; radius: number }) {
  return days.map(({ day, close, fell }) => {
    if (close === null) return null;
    if (fell === 'above' || fell === 'below') return s('path', { class: 'outside', d: buildDiamondPath(x(day), y(close), radius) });
    return dots ? s('circle', { class: 'inside', cx: x(day).toFixed(1), cy: y(close).toFixed(1), r: 3 }) : null;
  });
}
