import { el } from '../../../views/markup.ts';
import { buildBandPath, buildLinePath, computeExtent } from '../chart.ts';
import { createTimeFrame, type Plot, renderCrosshair, renderFrame, renderReference } from './time-frame.ts';

/** A value of a day, with the bounds of its interval where there is one. */
export interface SeriesPoint {
  day: number;
  value: number;
  low: number | null;
  high: number | null;
}

interface SeriesChartOptions {
  width: number;
  /** At least one, ascending. */
  points: readonly SeriesPoint[];
  /** A value to compare with, drawn across. */
  reference: number;
  tick: (value: number) => string;
}

/** A value by day with its interval. A single day is a dot. */
export function renderSeriesChart({ width, points, reference, tick }: SeriesChartOptions): Plot {
  const frame = createTimeFrame({
    width,
    days: [points[0].day, points[points.length - 1].day],
    values: computeExtent([reference, ...points.flatMap(({ value, low, high }) => [value, low ?? value, high ?? value])]),
    tick,
  });
  const { x, y } = frame;
  const bounded = points.flatMap(({ day, low, high }) => (low === null || high === null ? [] : [[x(day), y(high), y(low)] as const]));
  const line = points.map(({ day, value }) => [x(day), y(value)] as const);
  return {
    svg: renderFrame(
      frame,
      bounded.length < 2
        ? bounded.map(([at, high, low]) => el('line', { class: 'interval', x1: at, x2: at, y1: high, y2: low }))
        : el('path', { class: 'band', d: buildBandPath(bounded) }),
      renderReference(frame, reference),
      points.length === 1
        ? el('circle', { class: 'dot', cx: line[0][0], cy: line[0][1], r: 4 })
        : el('path', { class: 'line', d: buildLinePath(line) }),
    ),
    xs: line.map(([at]) => at),
    mark: (index) => renderCrosshair(frame, line[index][0], [line[index][1]]),
  };
}
