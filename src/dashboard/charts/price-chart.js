import { s } from '../lib/dom.js';
import { withoutGaps } from '../record/record-rows.js';
import { bandPath, canvas, dayTicks, extent, horizontalGrid, linePath, scale, verticalGrid } from './chart.js';
import { diamond } from './forest.js';
import { textWidth } from './text.js';

/** @import { Scale } from './chart.js' */
/** @import { PriceDay } from '../record/record-rows.js' */

const MARGIN = { top: 10, right: 14, bottom: 26, left: 48 };
/** From so many pixels a day on every forecast has a bar of its own; below, the bars run together into a band. */
const PIXELS_OF_A_BAR = 6;
const MOST_DAYS_AFTER = 4;
/** Pixels between a price on the axis and the plot, and to the edge of the chart. */
const LABEL_GAPS = 8;

/** A price that a chart has room for: `$98.5k`. @param {number} value */
function shortUsd(value) {
  return Math.abs(value) < 10_000 ? `$${Math.round(value).toLocaleString('en-US')}` : `$${Number((value / 1_000).toFixed(1))}k`;
}

/** The price after the last close. @typedef {{ day: number, price: number }} Newest `day` with its part that is over */

/**
 * What is drawn after the last close. A price that is many days after it has nothing to be joined to: history is being replayed, or the
 * record has stopped.
 * @param {number} last day of the last close
 * @param {Newest | null} newest
 */
export function newestAfter(last, newest) {
  return newest !== null && newest.day > last && newest.day - last <= MOST_DAYS_AFTER ? newest : null;
}

/**
 * Closes, the bands that forecasts gave them, and the outcomes that fell outside. Open forecasts that are told have dashed bands ahead.
 * @param {{ width: number, days: readonly PriceDay[], newest: Newest | null }} options days: at least one, ascending
 */
export function priceChart({ width, days, newest }) {
  const height = width < 560 ? 260 : 340;
  const right = width - MARGIN.right;
  const bottom = height - MARGIN.bottom;
  const first = days[0].day;
  const last = Math.max(days[days.length - 1].day, newest?.day ?? 0);
  const y = scale(extent([...valuesOf(days), ...(newest === null ? [] : [newest.price])]), [bottom, MARGIN.top], 7);
  // `$100.1k` takes more room than `$98k`.
  const left = Math.max(MARGIN.left, ...y.ticks.map((price) => Math.ceil(textWidth(shortUsd(price))) + LABEL_GAPS));
  const x = scale([first - 0.5, last + 0.5], [left, right]);
  const ticks = dayTicks(first, last, Math.max(2, Math.floor((right - left) / 84))).map(({ day, label }) => ({ at: x(day), label }));
  const pixelsPerDay = (right - left) / (last - first + 1);
  const cursor = s('line', { class: 'cursor', y1: MARGIN.top, y2: bottom });
  const svg = canvas(
    { width, height },
    horizontalGrid({ y, left, right, label: shortUsd }),
    verticalGrid({ ticks, top: MARGIN.top, bottom, width }),
    pixelsPerDay >= PIXELS_OF_A_BAR ? bars({ days, x, y, wide: Math.min(12, pixelsPerDay * 0.6) }) : bands({ days, x, y }),
    closes({ days, x, y }),
    newest === null ? null : newestPrice({ days, newest, x, y }),
    outcomes({ days, x, y, dots: pixelsPerDay >= PIXELS_OF_A_BAR, radius: pixelsPerDay < 3 ? 3.5 : 5 }),
    cursor,
  );
  svg.classList.add('read');
  return { svg, xs: days.map(({ day }) => x(day)), mark: marker({ days, x, cursor }) };
}

/** @param {{ days: readonly PriceDay[], x: Scale, cursor: SVGLineElement }} options */
function marker({ days, x, cursor }) {
  /** @param {number} index */
  return (index) => {
    cursor.setAttribute('x1', x(days[index].day).toFixed(1));
    cursor.setAttribute('x2', x(days[index].day).toFixed(1));
  };
}

/** @param {readonly PriceDay[]} days */
function valuesOf(days) {
  return days.flatMap(({ close, band }) => [...(close === null ? [] : [close]), ...(band === null ? [] : [band.low, band.high])]);
}

/** @param {{ days: readonly PriceDay[], x: Scale, y: Scale, wide: number }} options */
function bars({ days, x, y, wide }) {
  return days.map(({ day, band, fell }) =>
    band === null
      ? null
      : s(
          'g',
          {},
          s('rect', {
            class: fell === null ? 'bar ahead' : 'bar',
            x: (x(day) - wide / 2).toFixed(1),
            y: y(band.high).toFixed(1),
            width: wide.toFixed(1),
            height: Math.max(0, y(band.low) - y(band.high)).toFixed(1),
            rx: 2,
          }),
          s('line', { class: 'median', x1: x(day) - wide / 2, x2: x(day) + wide / 2, y1: y(band.median), y2: y(band.median) }),
        ),
  );
}

/** @param {{ days: readonly PriceDay[], x: Scale, y: Scale }} options */
function bands({ days, x, y }) {
  return ['over', 'ahead'].flatMap((which) =>
    withoutGaps(days.filter(({ band, fell }) => band !== null && (fell === null) === (which === 'ahead'))).flatMap((part) => {
      const told = part.flatMap(({ day, band }) => (band === null ? [] : [{ at: x(day), band }]));
      return [
        s('path', {
          class: which === 'ahead' ? 'band ahead' : 'band',
          d: bandPath(told.map(({ at, band }) => [at, y(band.high), y(band.low)])),
        }),
        s('path', { class: 'median', d: linePath(told.map(({ at, band }) => [at, y(band.median)])) }),
      ];
    }),
  );
}

/** A day without neighbours is a point: the line ends are round. @param {{ days: readonly PriceDay[], x: Scale, y: Scale }} options */
function closes({ days, x, y }) {
  const known = days.flatMap(({ day, close }) => (close === null ? [] : [{ day, close }]));
  return withoutGaps(known).map((part) =>
    s('path', { class: 'price-line', d: `${linePath(part.map(({ day, close }) => [x(day), y(close)]))}h0` }),
  );
}

/** @param {{ days: readonly PriceDay[], newest: Newest, x: Scale, y: Scale }} options */
function newestPrice({ days, newest: { day, price }, x, y }) {
  const last = days.findLast(({ close }) => close !== null);
  return s(
    'g',
    {},
    last === undefined ? null : s('line', { class: 'since', x1: x(last.day), y1: y(last.close ?? price), x2: x(day), y2: y(price) }),
    s('circle', { class: 'newest', cx: x(day).toFixed(1), cy: y(price).toFixed(1), r: 3.5 }),
  );
}

/**
 * Outside the band: a diamond. Otherwise a dot, where there is room for it.
 * @param {{ days: readonly PriceDay[], x: Scale, y: Scale, dots: boolean, radius: number }} options
 */
function outcomes({ days, x, y, dots, radius }) {
  return days.map(({ day, close, fell }) => {
    if (close === null) return null;
    if (fell === 'above' || fell === 'below') return s('path', { class: 'outside', d: diamond(x(day), y(close), radius) });
    return dots ? s('circle', { class: 'inside', cx: x(day).toFixed(1), cy: y(close).toFixed(1), r: 3 }) : null;
  });
}
