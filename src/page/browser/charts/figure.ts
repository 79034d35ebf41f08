import { DAY_MS } from '../../../forecast/day.ts';
import { listTicks } from '../../first-screen.ts';
import { type Attributes, el, type Markup, type MarkupElement } from '../../markup.ts';
import { type Column, renderTable } from '../../table.ts';
import { createPart, Part } from '../view.ts';

/** `mark`: class of the mark, such as `mark-line`. */
export type Legend = readonly { label: string; mark: string }[];

interface FigureOptions<Row> {
  title: string;
  summary: string;
  legend: Legend;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  draw: (width: number) => MarkupElement;
  /** How to read it. */
  note?: string | undefined;
  /** Above and below the chart. */
  control?: Markup;
  below?: Markup;
  /** Over the chart, and attributes of the element around both. */
  cover?: Markup;
  canvas?: Attributes;
}

/**
 * A chart with title, summary and data table. It is redrawn when its width changes; the summary and the table carry the same data for
 * screen readers.
 */
export function renderFigure<Row>(options: FigureOptions<Row>): MarkupElement {
  return createPart(Figure, { ...(options as unknown as FigureOptions<unknown>), key: options.title });
}

const MIN_WIDTH = 220;

class Figure extends Part<FigureOptions<unknown>, { width: number }> {
  override state = { width: 0 };
  #observer = new ResizeObserver(([{ contentRect }]) => {
    const width = Math.max(MIN_WIDTH, Math.floor(contentRect.width));
    // A hidden figure has no width.
    if (contentRect.width > 0 && width !== this.state.width) this.setState({ width });
  });

  #canvas: Element | null = null;
  #setCanvas = (element: Element | null) => {
    this.#canvas = element;
  };

  override componentDidMount() {
    if (this.#canvas !== null) this.#observer.observe(this.#canvas);
  }

  override componentWillUnmount() {
    this.#observer.disconnect();
  }

  draw() {
    const { title, note, summary, legend, columns, rows, draw, control, below, cover, canvas } = this.props;
    const { width } = this.state;
    const marks = legend.map(({ label, mark }) => el('li', {}, el('span', { class: `mark ${mark}`, 'aria-hidden': 'true' }), label));
    const svg = width > 0 ? draw(width) : null;
    const chart = svg && { ...svg, attributes: { ...svg.attributes, role: 'img', 'aria-label': `${title}. ${summary}` } };
    return el('figure', {}, [
      el('figcaption', {}, el('strong', {}, title), ' ', el('span', {}, summary)),
      el('div', { class: 'figure-tools' }, control, el('div', {}, marks.length > 0 && el('ul', { class: 'legend' }, marks))),
      el('div', {}, [
        el('div', { class: 'canvas', ref: this.#setCanvas, ...canvas }, chart, cover),
        below,
        note === undefined ? null : el('p', { class: 'note' }, note),
      ]),
      createPart(FigureTable, { caption: title, columns, rows }),
    ]);
  }
}

/** Longer tables begin with their first rows, and show the others on request. */
const MAX_ROWS = 12;

/** Captions of tables that are open and of those that show all rows, so that a figure that is built again keeps them so. */
const openTables = new Set<string>();
const wholeTables = new Set<string>();

/** A table in a disclosure, built when it is opened, as it may have hundreds of rows. */
class FigureTable extends Part<{ caption: string; columns: readonly Column<unknown>[]; rows: readonly unknown[] }> {
  #remember = ({ currentTarget }: { currentTarget: HTMLDetailsElement }) => {
    if (currentTarget.open) openTables.add(this.props.caption);
    else openTables.delete(this.props.caption);
    this.forceUpdate();
  };
  #showAll = ({ currentTarget }: { currentTarget: HTMLElement }) => {
    wholeTables.add(this.props.caption);
    this.forceUpdate();
    currentTarget.parentElement?.querySelector<HTMLElement>('.scroll')?.focus({ preventScroll: true });
  };

  draw() {
    const { rows, ...table } = this.props;
    const isOpen = openTables.has(table.caption);
    const isCut = rows.length > MAX_ROWS && !wholeTables.has(table.caption);
    return el('details', { class: 'table-of', open: isOpen, ontoggle: this.#remember }, [
      el('summary', {}, 'Table', el('span', { class: 'visually-hidden' }, `: ${table.caption}`)),
      el('div', {}, [
        isOpen && renderTable({ ...table, rows: isCut ? rows.slice(0, MAX_ROWS) : rows }),
        isOpen && isCut && el('button', { type: 'button', class: 'show-all', onclick: this.#showAll }, `Show all ${rows.length}`),
      ]),
    ]);
  }
}

/** Days since 1970-01-01. */
interface DayTick {
  day: number;
  label: string;
}

/** Linear scale from values to pixels. */
export interface Scale {
  (value: number): number;
  domain: readonly [number, number];
  ticks: readonly number[];
}

/**
 * @param range pixels
 * @param count approximate number of ticks, at round values
 */
export function createScale(domain: readonly [number, number], range: readonly [number, number], count: number = 5): Scale {
  const [low, high] = domain;
  const span = high - low || 1;
  const at = (value: number) => range[0] + ((value - low) / span) * (range[1] - range[0]);
  return Object.assign(at, { domain, ticks: listTicks(low, high, count) });
}

/** First days of months, thinned to about `count`. */
function computeMonthTicks(firstDay: number, lastDay: number, count: number): DayTick[] {
  const months = [];
  const from = new Date(firstDay * DAY_MS);
  for (let month = 0; ; month++) {
    const at = new Date(Date.UTC(from.getUTCFullYear(), from.getUTCMonth() + month, 1));
    const day = at.getTime() / DAY_MS;
    if (day > lastDay) break;
    if (day >= firstDay)
      months.push({ day, label: `${at.toLocaleString('en-US', { month: 'short', timeZone: 'UTC' })} ${at.getUTCFullYear()}` });
  }
  const every = Math.max(1, Math.ceil(months.length / count));
  return months.filter((_, index) => index % every === 0);
}

/** Longer ranges get month ticks. */
const MAX_DAYS_WITH_DAY_TICKS = 120;

/** Day ticks, or month ticks for long ranges. Days since 1970-01-01. */
export function computeDayTicks(firstDay: number, lastDay: number, count = 8): DayTick[] {
  if (lastDay - firstDay > MAX_DAYS_WITH_DAY_TICKS) return computeMonthTicks(firstDay, lastDay, count);
  const every = [1, 2, 5, 7, 14, 28].find((step) => (lastDay - firstDay) / step <= count) ?? 56;
  const ticks = [];
  for (let day = Math.ceil(firstDay); day <= lastDay; day += every) ticks.push({ day, label: formatShortDate(day) });
  return ticks;
}

/** Day ticks of a horizontal axis, as many as have room for a label. @param range pixels */
export function placeDayTicks(
  x: (day: number) => number,
  [left, right]: readonly [left: number, right: number],
  [first, last]: readonly [first: number, last: number],
) {
  const count = Math.max(2, Math.floor((right - left) / MIN_DAY_LABEL_PIXELS));
  return computeDayTicks(first, last, count).map(({ day, label }) => ({ at: x(day), label }));
}

const MIN_DAY_LABEL_PIXELS = 84;

/** `21 Nov`. Days since 1970-01-01. */
function formatShortDate(day: number) {
  const at = new Date(day * DAY_MS);
  return `${at.getUTCDate()} ${at.toLocaleString('en-US', { month: 'short', timeZone: 'UTC' })}`;
}

/** `YYYY-MM-DD`. Days since 1970-01-01. */
export function formatDayNumber(day: number) {
  return new Date(day * DAY_MS).toISOString().slice(0, 10);
}

export function parseDayNumber(date: string) {
  return Date.parse(date.slice(0, 10)) / DAY_MS;
}

/** Colours and strokes are set by classes of the style sheet. */
export function createChartSvg({ width, height }: { width: number; height: number }, ...children: Markup[]) {
  return el('svg', { viewBox: `0 0 ${width} ${height}`, width, height, class: 'chart' }, ...children);
}

export function renderHorizontalGrid(options: { y: Scale; left: number; right: number; label: (value: number) => string }) {
  const { y, left, right, label } = options;
  const lines = y.ticks.map((tick) => [
    el('line', { x1: left, x2: right, y1: y(tick), y2: y(tick) }),
    el('text', { x: left - 6, y: y(tick), dy: '0.32em', 'text-anchor': 'end' }, label(tick)),
  ]);
  return el('g', { class: 'grid', 'aria-hidden': 'true' }, lines);
}

/** Lines over some heights, and their labels below. @param options pixels; labels at the ends are shifted to stay within `width` */
export function renderVerticalGrid(options: {
  ticks: readonly { at: number; label: string }[];
  strips: readonly { from: number; to: number }[];
  foot: number;
  width: number;
}) {
  const { ticks, strips, foot, width } = options;
  const lines = ticks.map(({ at, label }) => {
    const half = measureTextWidth(label) / 2;
    return [
      strips.map(({ from, to }) => el('line', { x1: at, x2: at, y1: from, y2: to })),
      el('text', { x: Math.max(half, Math.min(width - half, at)), y: foot, 'text-anchor': 'middle' }, label),
    ];
  });
  return el('g', { class: 'grid', 'aria-hidden': 'true' }, lines);
}

/** Path data of a polyline. */
export function buildLinePath(points: readonly (readonly [number, number])[]) {
  return points.map(([x, y], index) => `${index === 0 ? 'M' : 'L'}${x.toFixed(1)} ${y.toFixed(1)}`).join('');
}

export function buildDiamondPath(x: number, y: number, radius: number) {
  return `M${x.toFixed(1)} ${(y - radius).toFixed(1)}l${radius} ${radius}l${-radius} ${radius}l${-radius} ${-radius}z`;
}

/** Text measurement for SVG, which does not wrap text. */

const FONT_SIZE = 12;

const FAMILY = 'system-ui, -apple-system, "Segoe UI", Roboto, sans-serif';
let context: CanvasRenderingContext2D | null = null;

export function measureTextWidth(text: string, { weight = 400 } = {}) {
  if (typeof document !== 'undefined') context ??= document.createElement('canvas').getContext('2d');
  if (context === null) return text.length * FONT_SIZE * 0.6;
  context.font = `${weight} ${FONT_SIZE}px ${FAMILY}`;
  return context.measureText(text).width;
}
