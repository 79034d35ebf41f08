import { h } from '../../lib/dom.ts';
import { toNodes } from '../../lib/markup-dom.ts';
import type { Column } from '../../lib/table.ts';
import { createLiveFigure } from '../figure.ts';
import { getDayRange, resolveRange, selectDays } from './day-range.ts';
import { createPointReader } from './point-reader.ts';
import { createRangeControl } from './range-control.ts';
import type { Plot } from './time-frame.ts';

/** Days that were chosen, by title, so that a figure that is built again keeps them. */
const chosenDays = new Map<string, number>();

/** What a chart draws: the points of the chosen range. */
export interface ShownDays<Point> {
  /** Ascending. */
  points: readonly Point[];
  from: number;
  /** The point before the first one shown. */
  before: Point | null;
}

interface TimeFigureOptions<Point extends { day: number }> {
  title: string;
  /** Ascending, at least one. */
  points: () => readonly Point[];
  /** First and last day of the record, where the points differ from it. */
  span?: (points: readonly Point[]) => readonly [first: number, last: number];
  /** False for points that are not days. */
  hasRanges?: boolean;
  summary: (points: readonly Point[]) => string;
  legend?: (points: readonly Point[]) => readonly { label: string; mark: string }[];
  note?: string;
  draw: (options: ShownDays<Point> & { width: number }) => Plot;
  /** The values of a point. */
  read: (point: Point) => string;
  /** The point to read first; the last one without it. */
  start?: (points: readonly Point[]) => number;
  columns: readonly Column<Point>[];
}

/** A chart over time: a choice of ranges, values by pointer, touch and keys, and a table that follows the range. */
export function createTimeFigure<Point extends { day: number }>(options: TimeFigureOptions<Point>) {
  const { title, hasRanges = true, summary, legend = () => [], note, draw, read, columns } = options;
  const dayRange = getDayRange();
  const control = hasRanges ? createRangeControl(title, dayRange) : null;
  const canvas = h('div', { class: 'canvas readable' });
  const reader = createPointReader({
    label: `${title}: values`,
    canvas,
    chosenDay: chosenDays.get(title) ?? null,
    onChoose: (day) => chosenDays.set(title, day),
  });
  canvas.append(reader.slider);
  let shown: ShownDays<Point>;

  const figure = createLiveFigure({
    title,
    note,
    canvas,
    control: control?.element,
    below: reader.readout,
    describe: () => ({ summary: summary(shown.points), legend: legend(shown.points), rows: shown.points.toReversed() }),
    draw(width) {
      const plot = draw({ ...shown, width });
      const svg = toNodes(plot.svg)[0] as SVGSVGElement;
      reader.attach(svg, plot);
      return svg;
    },
    columns,
  });

  function update() {
    const points = options.points();
    const [first, last] = options.span?.(points) ?? [points[0].day, points[points.length - 1].day];
    const days = last - first + 1;
    control?.update(days);
    const range = hasRanges ? resolveRange(dayRange.value, days) : Number.POSITIVE_INFINITY;
    const selected = selectDays({ points, range, lastDay: last });
    shown = { points: selected.shown, from: selected.from, before: selected.before };
    reader.take({
      days: shown.points.map(({ day }) => day),
      texts: shown.points.map(read),
      start: options.start?.(shown.points) ?? shown.points.length - 1,
    });
    figure.update();
  }
  if (hasRanges) dayRange.follow(title, update);
  update();
  return { element: figure.element, update, redraw: figure.redraw };
}
