import { s } from '../lib/dom.ts';
import type { ApiResponses } from '../state/responses.ts';
import {
  buildLinePath,
  createChartSvg,
  createScale,
  parseDayNumber,
  placeDayTicks,
  renderHorizontalGrid,
  renderVerticalGrid,
  type Scale,
} from './chart.ts';

export type CrowdWeek = ApiResponses['crowd']['weeks'][number];

const MARGIN = { top: 22, right: 16, bottom: 26, left: 48 };
const HEIGHT = 240;

/**
 * Both probabilities of each weekly question, and its result as a triangle at the top (YES) or bottom (NO).
 * @param options `weeks`: at least one, oldest first
 */
export function renderCrowdChart({ width, weeks }: { width: number; weeks: readonly CrowdWeek[] }) {
  const right = width - MARGIN.right;
  const bottom = HEIGHT - MARGIN.bottom;
  const days = weeks.map(({ date }) => parseDayNumber(date));
  const [first, last] = [days[0] - 3, days[days.length - 1] + 3];
  const x = createScale([first, last], [MARGIN.left, right]);
  const y = createScale([0, 1], [bottom - 14, MARGIN.top], 4);
  const ticks = placeDayTicks(x, [MARGIN.left, right], [days[0], last]);
  return createChartSvg(
    { width, height: HEIGHT },
    renderHorizontalGrid({ y, left: MARGIN.left, right, label: (value) => `${Math.round(100 * value)} %` }),
    renderVerticalGrid({ ticks, top: MARGIN.top, bottom, width }),
    s('line', { class: 'zero', x1: MARGIN.left, x2: right, y1: y(0.5), y2: y(0.5) }),
    weeks.map((week, index) => renderWeekMarks(week, { at: x(days[index]), y })),
  );
}

function renderWeekMarks({ marketProbability, oracleProbability, winner }: CrowdWeek, { at, y }: { at: number; y: Scale }) {
  const oracle = oracleProbability === null ? null : y(oracleProbability);
  return s('g', {}, [
    oracle === null
      ? null
      : s('path', {
          class: 'between',
          d: buildLinePath([
            [at, y(marketProbability)],
            [at, oracle],
          ]),
        }),
    s('rect', { class: 'crowd-mark', x: (at - 4).toFixed(1), y: (y(marketProbability) - 4).toFixed(1), width: 8, height: 8 }),
    oracle === null ? null : s('circle', { class: 'dot', cx: at.toFixed(1), cy: oracle.toFixed(1), r: 5 }),
    winner === null
      ? null
      : s('path', { class: 'came-true', d: buildTrianglePath(at, winner === 'YES' ? y(1) - 8 : y(0) + 8, winner === 'YES' ? -1 : 1) }),
  ]);
}

/** Points up (-1) or down (1). */
function buildTrianglePath(x: number, y: number, way: 1 | -1) {
  return `${buildLinePath([
    [x - 5, y - 4 * way],
    [x + 5, y - 4 * way],
    [x, y + 4 * way],
  ])}Z`;
}
