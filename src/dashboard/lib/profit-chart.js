import { canvas, dayNumber, dayTicks, extent, horizontalGrid, linePath, scale, verticalGrid } from './chart.js';
import { s } from './dom.js';

const MARGIN = { top: 12, right: 16, bottom: 26, left: 60 };
const HEIGHT = 220;

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
  const y = scale(extent([0, ...days.map(({ profitMicros }) => profitMicros / 1e6)]), [bottom, MARGIN.top], 4);
  const ticks = dayTicks(first, last, Math.max(2, Math.floor((right - MARGIN.left) / 84))).map(({ day, label }) => ({ at: x(day), label }));
  /** @type {[number, number][]} */
  const points = [
    [x(first), y(0)],
    ...days.map(({ date, profitMicros }) => /** @type {[number, number]} */ ([x(dayNumber(date)), y(profitMicros / 1e6)])),
  ];
  return canvas(
    { width, height: HEIGHT },
    horizontalGrid({ y, left: MARGIN.left, right, label: (value) => value.toLocaleString('en-US') }),
    verticalGrid({ ticks, top: MARGIN.top, bottom, width }),
    s('line', { class: 'zero', x1: MARGIN.left, x2: right, y1: y(0), y2: y(0) }),
    s('path', { class: 'line', d: stepsOf(points) }),
  );
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
