import type { Markup, MarkupElement } from '../../markup.ts';
import { h, replaceChildren, toNodes } from '../dom.ts';
import type { Column } from '../section.ts';
import { createLiveFigure, type Legend } from './figure.ts';

/** Days that were chosen, by title, so that a figure that is built again keeps them. */
const chosenDays = new Map<string, number>();

/** What a chart draws: the points of the chosen range. */
interface ShownDays<Point> {
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
  /** Days of the record where the points are its newest only, and how to get all. */
  rest?: { days: number; load: () => void } | null;
  /** First and last day of the record, where the points differ from it. */
  span?: (points: readonly Point[]) => readonly [first: number, last: number];
  summary: (points: readonly Point[]) => string;
  legend?: (points: readonly Point[]) => Legend;
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
  const { title, rest, summary, legend = () => [], note, draw, read, columns } = options;
  shared ??= createDayRange(sessionStorage);
  const dayRange = shared;
  const control = createRangeControl(title, dayRange);
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
    control: control.element,
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
    const days = rest?.days ?? last - first + 1;
    control.update(days);
    if (rest && resolveRange(dayRange.value, days) > points.length) rest.load();
    const selected = selectDays({ points, range: resolveRange(dayRange.value, days), lastDay: last });
    shown = { ...selected, points: selected.shown };
    reader.take({
      days: shown.points.map(({ day }) => day),
      texts: shown.points.map(read),
      start: options.start?.(shown.points) ?? shown.points.length - 1,
    });
    figure.update();
  }
  dayRange.follow(title, update);
  update();
  return { element: figure.element, update, redraw: figure.redraw };
}

/** The number of days that charts over time show. */

const ALL_DAYS = Number.POSITIVE_INFINITY;
export const DAY_RANGES: readonly number[] = [30, 90, 365, ALL_DAYS];
const DEFAULT_RANGE = 90;
const STORAGE_KEY = 'oracle-chart-days';

type DayRange = ReturnType<typeof createDayRange>;

/** One choice for all charts, kept for the session. */
export function createDayRange(storage: Pick<Storage, 'getItem' | 'setItem'>) {
  const listeners = new Map<string, () => void>();
  const stored = storage.getItem(STORAGE_KEY);
  let value = DAY_RANGES.find((range) => String(range) === stored) ?? DEFAULT_RANGE;
  return {
    get value() {
      return value;
    },
    set(next: number) {
      value = next;
      storage.setItem(STORAGE_KEY, String(next));
      for (const listener of listeners.values()) listener();
    },
    /** Replaces the listener of the same chart, as a section that is drawn again has a new one. */
    follow(chart: string, listener: () => void) {
      listeners.set(chart, listener);
    },
  };
}

let shared: DayRange | null = null;

/** Whether a range leaves out any of so many days. */
export function isRangeUseful(range: number, days: number) {
  return range === ALL_DAYS || range < days;
}

/** The chosen range, or all days where the record is shorter. */
export function resolveRange(range: number, days: number) {
  return isRangeUseful(range, days) ? range : ALL_DAYS;
}

/**
 * The points of the last days, the first day of these, and the point before.
 * @param options `points`: ascending; `lastDay`: at which the range ends; later points are all kept
 */
export function selectDays<Point extends { day: number }>(options: { points: readonly Point[]; range: number; lastDay: number }) {
  const { points, range, lastDay } = options;
  const from = lastDay - range + 1;
  const start = points.findIndex(({ day }) => day >= from);
  return start === -1
    ? { shown: [], from, before: points.at(-1) ?? null }
    : { shown: points.slice(start), from, before: points[start - 1] ?? null };
}

export function formatRange(range: number) {
  return range === ALL_DAYS ? 'All days' : `${range} days`;
}

interface ReadPoints {
  /** At least one, ascending. */
  days: readonly number[];
  texts: readonly string[];
  /** Chosen before the reader has chosen. */
  start: number;
}

/** Reads a chart point by point: by pointer, by touch, and by the keys of a range input that covers it. */
function createPointReader(options: {
  label: string;
  canvas: HTMLElement;
  /** Day that the reader had chosen before the chart was built again. */
  chosenDay: number | null;
  onChoose: (day: number) => void;
}) {
  const { label, canvas, chosenDay, onChoose } = options;
  const [slider, text] = [h('input', { type: 'range', min: 0, step: 1, class: 'point-slider', 'aria-label': label }), h('p', {})];
  const marker = document.createElementNS('http://www.w3.org/2000/svg', 'g');
  let points: ReadPoints = { days: [0], texts: [''], start: 0 };
  let drawn: { svg: SVGSVGElement; plot: Plot } | null = null;
  let [index, day] = [0, chosenDay];

  function show(next: number) {
    index = next;
    text.textContent = points.texts[next];
    replaceChildren(marker, toNodes(drawn === null ? null : drawn.plot.mark(next), true));
  }
  /** The value of the slider, which screen readers announce, follows once the pointer rests. */
  function announce() {
    slider.value = String(index);
    slider.setAttribute('aria-valuetext', points.texts[index]);
  }
  function choose(next: number) {
    if (next === index) return;
    day = points.days[next];
    show(next);
    onChoose(day);
  }
  function follow({ clientX }: PointerEvent) {
    if (drawn === null) return;
    const { svg, plot } = drawn;
    const { left, width } = svg.getBoundingClientRect();
    // The chart may be scaled down by CSS.
    const pixel = ((clientX - left) * svg.viewBox.baseVal.width) / (width || 1);
    choose(findPoint(plot.xs, pixel, plot.isStepped ?? false));
  }
  slider.addEventListener('input', () => {
    choose(Number(slider.value));
    announce();
  });
  for (const type of ['pointerdown', 'pointermove'] as const) canvas.addEventListener(type, follow);
  for (const type of ['pointerup', 'pointerleave', 'pointercancel'] as const) canvas.addEventListener(type, announce);
  canvas.addEventListener('click', () => slider.focus({ preventScroll: true }));

  const readout = h('div', { class: 'readout', 'aria-hidden': 'true' }, text);
  return {
    slider,
    readout,
    /** Takes other points, and keeps the chosen day where it is among them. */
    take(next: ReadPoints) {
      points = next;
      slider.max = String(next.days.length - 1);
      slider.hidden = next.days.length === 1;
      // An unseen copy of the longest text keeps the height.
      readout.dataset.longest = next.texts.reduce((longest, one) => (one.length > longest.length ? one : longest), '');
      const known = day === null ? -1 : next.days.indexOf(day);
      drawn = null;
      show(known === -1 ? next.start : known);
      announce();
    },
    /** Takes the drawn chart. */
    attach(svg: SVGSVGElement, plot: Plot) {
      drawn = { svg, plot };
      svg.append(marker);
      show(index);
    },
  };
}

/**
 * The nearest point, or the last one that has begun.
 * @param xs ascending, at least one
 */
export function findPoint(xs: readonly number[], x: number, isStepped: boolean) {
  const after = xs.findIndex((one) => one > x);
  if (after === -1) return xs.length - 1;
  if (after === 0) return 0;
  return isStepped || x - xs[after - 1] <= xs[after] - x ? after - 1 : after;
}

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

/** Radio buttons, and thus one tab stop; ranges that are longer than the record are disabled. */
function createRangeControl(chart: string, dayRange: DayRange) {
  const name = `days of ${chart}`;
  const inputs = DAY_RANGES.map((range) => {
    const attributes = { type: 'radio', name, value: range, class: 'visually-hidden', 'aria-label': formatRange(range) };
    return h('input', { ...attributes, onchange: () => dayRange.set(range) });
  });
  const labels = inputs.map((input, index) => h('label', {}, input, h('span', {}, formatRange(DAY_RANGES[index]).replace(/ days$/, ''))));
  const reason = h('span', { class: 'quiet' });
  const title = h('span', { 'aria-hidden': 'true' }, 'Days');
  return {
    element: h('div', { class: 'ranges', role: 'radiogroup', 'aria-label': `Days shown: ${chart}` }, title, labels, reason),
    /** @param days length of the record */
    update(days: number) {
      const chosen = resolveRange(dayRange.value, days);
      for (const [index, range] of DAY_RANGES.entries()) {
        inputs[index].disabled = !isRangeUseful(range, days);
        inputs[index].checked = range === chosen;
      }
      replaceChildren(reason, inputs.some(({ disabled }) => disabled) ? `of ${days} so far` : null);
    },
  };
}
