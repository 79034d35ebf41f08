import { s } from '../lib/dom.ts';
import { withMinusSign } from '../lib/format.ts';
import {
  buildLinePath,
  createChartSvg,
  createScale,
  parseDayNumber,
  placeDayTicks,
  renderHorizontalGrid,
  renderVerticalGrid,
} from './chart.ts';

const MARGIN = { top: 12, right: 16, bottom: 26, left: 60 };
const HEIGHT = 220;
const TICKS = 4;

/** Cumulative profit by day. @param options `days`: at least one, oldest first */
export function renderProfitChart({ width, days }: { width: number; days: readonly { date: string; profitMicros: number }[] }) {
  const right = width - MARGIN.right;
  const bottom = HEIGHT - MARGIN.bottom;
  const first = parseDayNumber(days[0].date) - 1;
  const last = Math.max(first + 2, parseDayNumber(days[days.length - 1].date));
  const x = createScale([first, last], [MARGIN.left, right]);
  const y = createScale(extendToWholeTicks([0, ...days.map(({ profitMicros }) => profitMicros / 1e6)]), [bottom, MARGIN.top], TICKS);
  const ticks = placeDayTicks(x, [MARGIN.left, right], [first, last]);
  const points: [number, number][] = [
    [x(first), y(0)],
    ...days.map(({ date, profitMicros }) => [x(parseDayNumber(date)), y(profitMicros / 1e6)] as [number, number]),
  ];
  return createChartSvg(
    { width, height: HEIGHT },
    renderHorizontalGrid({ y, left: MARGIN.left, right, label: (value) => withMinusSign(value.toLocaleString('en-US')) }),
    renderVerticalGrid({ ticks, top: MARGIN.top, bottom, width }),
    s('line', { class: 'zero', x1: MARGIN.left, x2: right, y1: y(0), y2: y(0) }),
    s('path', { class: 'line', d: buildStepPath(points) }),
  );
}

/**
 * Extends the range to whole ticks, so that every part of the line lies between two labels.
 * @param values at least two distinct values, or all 0
 */
export function extendToWholeTicks(values: readonly number[]): [number, number] {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const { ticks } = createScale([low, high], [0, 1], TICKS);
  const step = ticks.length > 1 ? ticks[1] - ticks[0] : high - low || 1;
  return [step * Math.floor(low / step), step * Math.ceil(high / step)];
}

/** A step line: profit changes only when a wager is settled. */
function buildStepPath(points: readonly (readonly [number, number])[]) {
  return buildLinePath(
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
