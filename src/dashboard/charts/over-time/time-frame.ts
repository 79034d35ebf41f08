import { el, type Markup } from '../../../views/markup.ts';
import { createChartSvg, createScale, placeDayTicks, renderHorizontalGrid, renderVerticalGrid, type Scale } from '../chart.ts';
import { measureTextWidth } from '../text-layout.ts';

const TOP = 10;
/** Pixels below the plot, for the labels of the days. */
const BOTTOM = 26;
const LABEL_GAP = 10;

/** A drawn chart whose points can be read one by one. */
export interface Plot {
  svg: MarkupElement;
  /** Pixels of the points, ascending. */
  xs: readonly number[];
  /** Whether a point holds from its pixel to that of the next, rather than halfway to both sides. */
  isStepped?: boolean;
  /** Marks of the chosen point. */
  mark: (index: number) => Markup;
}

type MarkupElement = ReturnType<typeof el>;

export interface TimeFrame {
  width: number;
  height: number;
  left: number;
  right: number;
  top: number;
  bottom: number;
  x: Scale;
  y: Scale;
  grid: Markup;
}

interface TimeFrameOptions {
  width: number;
  height?: number;
  /** First and last value of the horizontal axis; equal ones are spread by a day. */
  days: readonly [first: number, last: number];
  values: readonly [low: number, high: number];
  /** Format of a value on the vertical axis. */
  tick: (value: number) => string;
  tickCount?: number;
  /** Pixels that the largest mark reaches beyond its point. */
  padding?: number;
  /** Labels of the horizontal axis; days without it. */
  labels?: (x: Scale, range: readonly [number, number]) => readonly { at: number; label: string }[];
}

/** Scales and axes of a chart over time: every mark within `padding` of its point lies in the view box. */
export function createTimeFrame({
  width,
  height = 220,
  days,
  values,
  tick,
  tickCount = 4,
  padding = 6,
  labels = (x, range) => placeDayTicks(x, range, x.domain),
}: TimeFrameOptions): TimeFrame {
  const [top, bottom, right] = [TOP, height - BOTTOM, width - padding];
  const y = createScale(values, [bottom - padding, top + padding], tickCount);
  const left = Math.ceil(Math.max(...y.ticks.map((value) => measureTextWidth(tick(value))), 0)) + LABEL_GAP;
  const x = createScale(spreadDays(days), [left + padding, right - padding]);
  const grid = [
    renderHorizontalGrid({ y, left, right, label: tick }),
    renderVerticalGrid({ ticks: labels(x, [left + padding, right - padding]), top, bottom, width }),
  ];
  return { width, height, left, right, top, bottom, x, y, grid };
}

function spreadDays([first, last]: readonly [number, number]): readonly [number, number] {
  return first === last ? [first - 1, last + 1] : [first, last];
}

export function renderFrame(frame: TimeFrame, ...marks: Markup[]) {
  return createChartSvg(frame, frame.grid, ...marks);
}

/** A value to compare with, drawn across. */
export function renderReference({ left, right, y }: TimeFrame, value: number) {
  return el('line', { class: 'zero', x1: left, x2: right, y1: y(value).toFixed(1), y2: y(value).toFixed(1) });
}

/** A line through the chosen point, and a ring around each of its values. */
export function renderCrosshair({ top, bottom }: Pick<TimeFrame, 'top' | 'bottom'>, x: number, ys: readonly number[] = []): Markup {
  return [
    el('line', { class: 'cursor', x1: x.toFixed(1), x2: x.toFixed(1), y1: top, y2: bottom }),
    ys.map((y) => el('circle', { class: 'ring', cx: x.toFixed(1), cy: y.toFixed(1), r: 4.5 })),
  ];
}
