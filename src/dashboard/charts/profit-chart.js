import { s } from '../lib/dom.js';
import { withMinus } from '../lib/format.js';
import { canvas, dayNumber, dayTicks, horizontalGrid, linePath, scale, verticalGrid } from './chart.js';

const MARGIN = { top: 12, right: 16, bottom: 26, left: 60 };
const HEIGHT = 220;
const TICKS = 4;

/**
 * Profit that came together over the days, against none.
 * @param {{ width: number, days: readonly { date: string, profitMicros: number }[] }} options days: at least one, oldest first
 */
export function profitChart({ width, days }) {
  const right = width - MARGIN.right;
  const bottom = HEIGHT - MARGIN.bottom;
  const first = dayNumber(days[0].date) - 1;
  const last = Math.max(first + 2, dayNumber(days[days.length - 1].date));
  const x = scale([first, last], [MARGIN.left, right]);
  const y = scale(wholeSteps([0, ...days.map(({ profitMicros }) => profitMicros / 1e6)]), [bottom, MARGIN.top], TICKS);
  const ticks = dayTicks(first, last, Math.max(2, Math.floor((right - MARGIN.left) / 84))).map(({ day, label }) => ({ at: x(day), label }));
  /** @type {[number, number][]} */
  const points = [
    [x(first), y(0)],
    ...days.map(({ date, profitMicros }) => /** @type {[number, number]} */ ([x(dayNumber(date)), y(profitMicros / 1e6)])),
  ];
  return canvas(
    { width, height: HEIGHT },
    horizontalGrid({ y, left: MARGIN.left, right, label: (value) => withMinus(value.toLocaleString('en-US')) }),
    verticalGrid({ ticks, top: MARGIN.top, bottom, width }),
    s('line', { class: 'zero', x1: MARGIN.left, x2: right, y1: y(0), y2: y(0) }),
    s('path', { class: 'line', d: stepsOf(points) }),
  );
}

/**
 * From the tick below the least value to the one above the greatest: no part of the line is without a figure beside it.
 * @param {readonly number[]} values at least two of them unlike, or all 0
 * @returns {[number, number]}
 */
export function wholeSteps(values) {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const { ticks } = scale([low, high], [0, 1], TICKS);
  const step = ticks.length > 1 ? ticks[1] - ticks[0] : high - low || 1;
  return [step * Math.floor(low / step), step * Math.ceil(high / step)];
}

/** Money moves when a wager is settled, and not between. @param {readonly (readonly [number, number])[]} points */
function stepsOf(points) {
  return linePath(
    points.flatMap(([x, y], index) =>
      index === 0
        ? [[x, y]]
        : [
            [x, points[index - 1][1]],
            [x, y],
          ],
    ),
  );
}
