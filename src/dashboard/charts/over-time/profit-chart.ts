import { el } from '../../../views/markup.ts';
import { withMinusSign } from '../../lib/format.ts';
import { buildLinePath, createScale } from '../chart.ts';
import { createTimeFrame, type Plot, renderCrosshair, renderFrame, renderReference } from './time-frame.ts';

const TICKS = 4;

/** Profit of all settled wagers up to a day. */
export interface ProfitPoint {
  day: number;
  profit: number;
}

interface ProfitChartOptions {
  width: number;
  /** At least one, ascending. */
  points: readonly ProfitPoint[];
  /** The point before the first; null for the beginning of the account. */
  before: ProfitPoint | null;
}

/** Cumulative profit by day, from the level before the first. */
export function renderProfitChart({ width, points, before }: ProfitChartOptions): Plot {
  const first = points[0].day - 1;
  const start = before?.profit ?? 0;
  const frame = createTimeFrame({
    width,
    days: [first, points[points.length - 1].day],
    values: extendToWholeTicks([0, start, ...points.map(({ profit }) => profit)]),
    tick: (value) => withMinusSign(value.toLocaleString('en-US')),
    tickCount: TICKS,
  });
  const { x, y } = frame;
  const steps = [[x(first), y(start)] as const, ...points.map(({ day, profit }) => [x(day), y(profit)] as const)];
  return {
    svg: renderFrame(frame, renderReference(frame, 0), el('path', { class: 'line', d: buildStepPath(steps) })),
    xs: steps.slice(1).map(([at]) => at),
    isStepped: true,
    mark: (index) => renderCrosshair(frame, steps[index + 1][0], [steps[index + 1][1]]),
  };
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
