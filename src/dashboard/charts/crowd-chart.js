import { s } from '../lib/dom.js';
import { canvas, dayNumber, dayTicks, horizontalGrid, linePath, scale, verticalGrid } from './chart.js';

/** @import { Answers } from '../state/answers.ts' */
/** @import { Scale } from './chart.js' */

/** @typedef {Answers['crowd']['weeks'][number]} Week */

const MARGIN = { top: 22, right: 16, bottom: 26, left: 48 };
const HEIGHT = 240;

/**
 * Both probabilities of each week's question, and above or below them what came true.
 * @param {{ width: number, weeks: readonly Week[] }} options weeks: at least one, oldest first
 */
export function crowdChart({ width, weeks }) {
  const right = width - MARGIN.right;
  const bottom = HEIGHT - MARGIN.bottom;
  const days = weeks.map(({ date }) => dayNumber(date));
  const [first, last] = [days[0] - 3, days[days.length - 1] + 3];
  const x = scale([first, last], [MARGIN.left, right]);
  const y = scale([0, 1], [bottom - 14, MARGIN.top], 4);
  const ticks = dayTicks(days[0], last, Math.max(2, Math.floor((right - MARGIN.left) / 84))).map(({ day, label }) => ({
    at: x(day),
    label,
  }));
  return canvas(
    { width, height: HEIGHT },
    horizontalGrid({ y, left: MARGIN.left, right, label: (value) => `${Math.round(100 * value)} %` }),
    verticalGrid({ ticks, top: MARGIN.top, bottom, width }),
    s('line', { class: 'zero', x1: MARGIN.left, x2: right, y1: y(0.5), y2: y(0.5) }),
    weeks.map((week, index) => weekMarks(week, { at: x(days[index]), y })),
  );
}

/** @param {Week} week @param {{ at: number, y: Scale }} place */
function weekMarks({ marketProbability, oracleProbability, winner }, { at, y }) {
  const oracle = oracleProbability === null ? null : y(oracleProbability);
  return s(
    'g',
    {},
    oracle === null
      ? null
      : s('path', {
          class: 'between',
          d: linePath([
            [at, y(marketProbability)],
            [at, oracle],
          ]),
        }),
    s('rect', { class: 'crowd-mark', x: (at - 4).toFixed(1), y: (y(marketProbability) - 4).toFixed(1), width: 8, height: 8 }),
    oracle === null ? null : s('circle', { class: 'dot', cx: at.toFixed(1), cy: oracle.toFixed(1), r: 5 }),
    winner === null
      ? null
      : s('path', { class: 'came-true', d: triangle(at, winner === 'YES' ? y(1) - 8 : y(0) + 8, winner === 'YES' ? -1 : 1) }),
  );
}

/** A triangle that points up (-1) or down (1). @param {number} x @param {number} y @param {1 | -1} way */
function triangle(x, y, way) {
  return `${linePath([
    [x - 5, y - 4 * way],
    [x + 5, y - 4 * way],
    [x, y + 4 * way],
  ])}Z`;
}
