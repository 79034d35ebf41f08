import { s } from '../lib/dom.js';
import { measureTextWidth } from './text-layout.js';

/** @import { Child } from '../lib/dom.js' */

/** Days since 1970-01-01. @typedef {{ day: number, label: string }} DayTick */

/**
 * Linear scale from values to pixels.
 * @typedef {{ (value: number): number, domain: readonly [number, number], ticks: readonly number[] }} Scale
 */

/**
 * @param {readonly [number, number]} domain @param {readonly [number, number]} range pixels
 * @param {number} [count] approximate number of ticks, at round values @returns {Scale}
 */
export function createScale(domain, range, count = 5) {
  const [low, high] = domain;
  const span = high - low || 1;
  /** @param {number} value */
  const at = (value) => range[0] + ((value - low) / span) * (range[1] - range[0]);
  return Object.assign(at, { domain, ticks: computeTicks(low, high, count) });
}

/**
 * Minimum and maximum, extended by `margin` of their distance on both sides.
 * @param {readonly number[]} values @returns {[number, number]}
 */
export function computeExtent(values, margin = 0.05) {
  const low = Math.min(...values);
  const high = Math.max(...values);
  const room = (high - low || Math.abs(high) || 1) * margin;
  return [low - room, high + room];
}

/** @param {number} low @param {number} high @param {number} count */
function computeTicks(low, high, count) {
  const raw = (high - low || 1) / count;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((candidate) => candidate >= raw) ?? raw;
  const first = Math.ceil(low / step);
  const last = Math.floor(high / step + 1e-9);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => (first + index) * step);
}

/** First days of months, thinned to about `count`. @param {number} firstDay @param {number} lastDay @returns {DayTick[]} */
function computeMonthTicks(firstDay, lastDay, count = 8) {
  const months = [];
  const from = new Date(firstDay * 86_400_000);
  for (let month = 0; ; month++) {
    const at = new Date(Date.UTC(from.getUTCFullYear(), from.getUTCMonth() + month, 1));
    const day = at.getTime() / 86_400_000;
    if (day > lastDay) break;
    if (day >= firstDay)
      months.push({ day, label: `${at.toLocaleString('en-US', { month: 'short', timeZone: 'UTC' })} ${at.getUTCFullYear()}` });
  }
  const every = Math.max(1, Math.ceil(months.length / count));
  return months.filter((_, index) => index % every === 0);
}

/** Longer ranges get month ticks. */
const MAX_DAYS_WITH_DAY_TICKS = 120;

/**
 * Day ticks, or month ticks for long ranges. Days since 1970-01-01.
 * @param {number} firstDay @param {number} lastDay @returns {DayTick[]}
 */
export function computeDayTicks(firstDay, lastDay, count = 8) {
  if (lastDay - firstDay > MAX_DAYS_WITH_DAY_TICKS) return computeMonthTicks(firstDay, lastDay, count);
  const every = [1, 2, 5, 7, 14, 28].find((step) => (lastDay - firstDay) / step <= count) ?? 56;
  const ticks = [];
  for (let day = Math.ceil(firstDay); day <= lastDay; day += every) ticks.push({ day, label: formatShortDate(day) });
  return ticks;
}

/**
 * Day ticks of a horizontal axis, as many as have room for a label.
 * @param {(day: number) => number} x @param {readonly [left: number, right: number]} range pixels
 * @param {readonly [first: number, last: number]} days
 */
export function placeDayTicks(x, [left, right], [first, last]) {
  const count = Math.max(2, Math.floor((right - left) / MIN_DAY_LABEL_PIXELS));
  return computeDayTicks(first, last, count).map(({ day, label }) => ({ at: x(day), label }));
}

const MIN_DAY_LABEL_PIXELS = 84;

/** `21 Nov`. Days since 1970-01-01. @param {number} day */
function formatShortDate(day) {
  const at = new Date(day * 86_400_000);
  return `${at.getUTCDate()} ${at.toLocaleString('en-US', { month: 'short', timeZone: 'UTC' })}`;
}

/** `YYYY-MM-DD`. Days since 1970-01-01. @param {number} day */
export function formatDayNumber(day) {
  return new Date(day * 86_400_000).toISOString().slice(0, 10);
}

/** @param {string} date */
export function parseDayNumber(date) {
  return Date.parse(`${date.slice(0, 10)}T00:00:00Z`) / 86_400_000;
}

/**
 * Colours and strokes are set by classes of the style sheet.
 * @param {{ width: number, height: number }} size @param {...(Child | readonly Child[])} children
 */
export function createChartSvg({ width, height }, ...children) {
  return s('svg', { viewBox: `0 0 ${width} ${height}`, width, height, class: 'chart' }, ...children);
}

/** @param {{ y: Scale, left: number, right: number, label: (value: number) => string }} options */
export function renderHorizontalGrid({ y, left, right, label }) {
  return s(
    'g',
    { class: 'grid', 'aria-hidden': 'true' },
    y.ticks.flatMap((tick) => [
      s('line', { x1: left, x2: right, y1: y(tick), y2: y(tick) }),
      s('text', { x: left - 6, y: y(tick), dy: '0.32em', 'text-anchor': 'end' }, label(tick)),
    ]),
  );
}

/**
 * Labels at the ends are shifted to stay within `width`.
 * @param {{ ticks: readonly { at: number, label: string }[], top: number, bottom: number, width?: number }} options pixels
 */
export function renderVerticalGrid({ ticks, top, bottom, width = Number.POSITIVE_INFINITY }) {
  return s(
    'g',
    { class: 'grid', 'aria-hidden': 'true' },
    ticks.flatMap(({ at, label }) => {
      const half = measureTextWidth(label) / 2;
      return [
        s('line', { x1: at, x2: at, y1: top, y2: bottom }),
        s('text', { x: Math.max(half, Math.min(width - half, at)), y: bottom + 16, 'text-anchor': 'middle' }, label),
      ];
    }),
  );
}

/** Path data of a polyline. @param {readonly (readonly [number, number])[]} points */
export function buildLinePath(points) {
  return points.map(([x, y], index) => `${index === 0 ? 'M' : 'L'}${x.toFixed(1)} ${y.toFixed(1)}`).join('');
}

/**
 * Path data of the area between an upper and a lower line.
 * @param {readonly (readonly [x: number, upper: number, lower: number])[]} points
 */
export function buildBandPath(points) {
  const upper = points.map(([x, top]) => /** @type {[number, number]} */ ([x, top]));
  const lower = points.map(([x, , bottom]) => /** @type {[number, number]} */ ([x, bottom])).reverse();
  return points.length === 0 ? '' : `${buildLinePath([...upper, ...lower])}Z`;
}
