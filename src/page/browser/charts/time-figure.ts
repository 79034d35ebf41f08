import { el, type Markup, type MarkupElement } from '../../markup.ts';
import type { Column } from '../../table.ts';
import { createPart, Part } from '../view.ts';
import { type Legend, renderFigure } from './figure.ts';

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
  points: readonly Point[];
  /** Days of the record where the points are its newest only, and how to get all. */
  rest?: { days: number; load: () => void } | null;
  /** First and last day of the record, where the points differ from it. */
  span?: readonly [first: number, last: number];
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
export function renderTimeFigure<Point extends { day: number }>(options: TimeFigureOptions<Point>): MarkupElement {
  return createPart(TimeFigure, { ...(options as unknown as TimeFigureOptions<{ day: number }>), key: options.title });
}

/** Days that were chosen, by title, so that a figure that is built again keeps them. */
const chosenDays = new Map<string, number>();

/** Reads a chart point by point: by pointer, by touch, and by the keys of a range input that covers it. */
class TimeFigure extends Part<TimeFigureOptions<{ day: number }>> {
  #shown: ShownDays<{ day: number }> = { points: [], from: 0, before: null };
  #plot: Plot | null = null;
  #drawnFor = '';
  /** What the slider says while the pointer moves: screen readers announce its value once the pointer rests. */
  #announcedDay: number | null = null;

  override componentDidMount() {
    getDayRange().follow(this.props.title, () => this.forceUpdate());
  }

  override componentWillReceiveProps() {
    this.#drawnFor = '';
    this.#announcedDay = null;
  }

  #findIndex(day: number | undefined | null) {
    const { points } = this.#shown;
    const index = points.findIndex((point) => point.day === day);
    return index === -1 ? (this.props.start?.(points) ?? points.length - 1) : index;
  }

  #choose(index: number) {
    chosenDays.set(this.props.title, this.#shown.points[index].day);
    this.forceUpdate();
  }

  #follow = ({ clientX, currentTarget }: PointerEvent) => {
    const svg = (currentTarget as Element).querySelector<SVGSVGElement>('.chart');
    if (svg === null || this.#plot === null) return;
    const { left, width } = svg.getBoundingClientRect();
    // The chart may be scaled down by CSS.
    const pixel = ((clientX - left) * svg.viewBox.baseVal.width) / (width || 1);
    const before = this.#findIndex(chosenDays.get(this.props.title));
    const next = findPoint(this.#plot.xs, pixel, this.#plot.isStepped ?? false);
    this.#announcedDay ??= this.#shown.points[before].day;
    if (next !== before) this.#choose(next);
  };
  #announce = () => {
    this.#announcedDay = null;
    this.forceUpdate();
  };
  #focus = ({ currentTarget }: { currentTarget: Element }) =>
    currentTarget.querySelector<HTMLElement>('.point-slider')?.focus({ preventScroll: true });

  /** Drawn again where the width, the range or the data have changed. */
  #draw(width: number, range: number): Plot {
    const drawnFor = `${width} ${range}`;
    if (this.#plot === null || this.#drawnFor !== drawnFor) this.#plot = this.props.draw({ ...this.#shown, width });
    this.#drawnFor = drawnFor;
    return this.#plot;
  }

  draw() {
    const { title, points: all, span, rest, summary, legend = () => [], note, read, columns } = this.props;
    const [first, last] = span ?? [all[0].day, all[all.length - 1].day];
    const days = rest?.days ?? last - first + 1;
    const range = resolveRange(getDayRange().value, days);
    if (rest && range > all.length) rest.load();
    const { shown: points, ...around } = selectDays({ points: all, range, lastDay: last });
    this.#shown = { points, ...around };
    const texts = points.map(read);
    const index = this.#findIndex(chosenDays.get(title));
    const announced = this.#announcedDay === null ? index : this.#findIndex(this.#announcedDay);
    const slider = el('input', {
      ...{ type: 'range', min: 0, max: points.length - 1, step: 1, class: 'point-slider', 'aria-label': `${title}: values` },
      ...{ hidden: points.length === 1, value: announced, 'aria-valuetext': texts[announced] },
      oninput: ({ currentTarget }: { currentTarget: HTMLInputElement }) => {
        this.#announcedDay = null;
        this.#choose(Number(currentTarget.value));
      },
    });
    // An unseen copy of the longest text keeps the height.
    const longest = texts.reduce((most, one) => (one.length > most.length ? one : most), '');
    return renderFigure({
      ...{ title, note, columns, summary: summary(points), legend: legend(points), rows: points.toReversed() },
      control: renderRanges(title, days, range),
      draw: (width) => {
        const { svg, mark } = this.#draw(width, range);
        return { ...svg, children: [svg.children, el('g', {}, mark(index))] };
      },
      cover: slider,
      canvas: {
        ...{ class: 'canvas readable', onpointerdown: this.#follow, onpointermove: this.#follow, onclick: this.#focus },
        ...{ onpointerup: this.#announce, onpointerleave: this.#announce, onpointercancel: this.#announce },
      },
      below: el('div', { class: 'readout', 'aria-hidden': 'true', 'data-longest': longest }, el('p', {}, texts[index])),
    });
  }
}

/** Radio buttons, and thus one tab stop; ranges that are longer than the record are disabled. @param days length of the record */
function renderRanges(chart: string, days: number, chosen: number): Markup {
  const labels = DAY_RANGES.map((range) => {
    const attributes = {
      type: 'radio',
      name: `days of ${chart}`,
      value: range,
      class: 'visually-hidden',
      'aria-label': formatRange(range),
    };
    const state = { checked: range === chosen, disabled: !isRangeUseful(range, days), onchange: () => getDayRange().set(range) };
    return el('label', {}, el('input', { ...attributes, ...state }), el('span', {}, formatRange(range).replace(/ days$/, '')));
  });
  return el('div', { class: 'ranges', role: 'radiogroup', 'aria-label': `Days shown: ${chart}` }, [
    el('span', { 'aria-hidden': 'true' }, 'Days'),
    labels,
    el('span', { class: 'quiet' }, DAY_RANGES.some((range) => !isRangeUseful(range, days)) && `of ${days} so far`),
  ]);
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

function getDayRange(): DayRange {
  shared ??= createDayRange(sessionStorage);
  return shared;
}

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
