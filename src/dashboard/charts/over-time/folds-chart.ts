import { el } from '../../../views/markup.ts';
import { computeExtent } from '../chart.ts';
import { createTimeFrame, type Plot, renderCrosshair, renderFrame, renderReference } from './time-frame.ts';

/** A fold of the walk-forward test; its `day` is its position, from 1. */
export interface FoldPoint {
  day: number;
  from: string;
  base: number;
  accuracy: number;
}

const MIN_YEAR_PIXELS = 44;

/** Accuracy of each fold beside that of always predicting UP. @param options `points`: at least one, oldest first */
export function renderFoldsChart({ width, points }: { width: number; points: readonly FoldPoint[] }): Plot {
  const frame = createTimeFrame({
    width,
    days: [1, points.length],
    values: computeExtent([0.5, ...points.flatMap(({ accuracy, base }) => [accuracy, base])], 0.1),
    tick: (value) => `${Math.round(100 * value)} %`,
    padding: 9,
    labels: (x, [left, right]) =>
      chooseYearTicks(points, Math.floor((right - left) / MIN_YEAR_PIXELS)).map(({ day, label }) => ({ at: x(day), label })),
  });
  const { x, y } = frame;
  return {
    svg: renderFrame(
      frame,
      renderReference(frame, 0.5),
      points.map(({ day, accuracy, base }) => [
        el('line', { class: 'between', x1: x(day), x2: x(day), y1: y(base), y2: y(accuracy) }),
        el('line', { class: 'always-up', x1: x(day) - 7, x2: x(day) + 7, y1: y(base), y2: y(base) }),
        el('circle', { class: 'dot', cx: x(day).toFixed(1), cy: y(accuracy).toFixed(1), r: 4.5 }),
      ]),
    ),
    xs: points.map(({ day }) => x(day)),
    mark: (index) => renderCrosshair(frame, x(points[index].day)),
  };
}

/** One tick per year at its first fold, thinned to `most`. */
function chooseYearTicks(points: readonly FoldPoint[], most: number) {
  const years = points.flatMap(({ day, from }, index) => {
    const label = from.slice(0, 4);
    return index > 0 && points[index - 1].from.startsWith(label) ? [] : [{ day, label }];
  });
  const every = Math.max(1, Math.ceil(years.length / Math.max(1, most)));
  return years.filter((_, index) => index % every === 0);
}
