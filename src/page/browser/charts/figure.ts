import { DAY_MS } from '../../../forecast/day.ts';
import { listTicks } from '../../first-screen.ts';
import { el, type Markup, type MarkupElement } from '../../markup.ts';
import { type Child, type Children, h, replaceChildren, toNodes } from '../dom.ts';
import { type Column, renderTable } from '../section.ts';

const MIN_WIDTH = 220;

/** Widths by title, so that a figure that is built again is drawn at once and nothing moves. */
const lastWidths = new Map<string, number>();

/** `mark`: class of the mark, such as `mark-line`. */
export type Legend = readonly { label: string; mark: string }[];

interface FigureText<Row> {
  title: string;
  /** How to read it. */
  note?: string;
  columns: readonly Column<Row>[];
}

interface FigureContent<Row> {
  summary: string;
  legend: Legend;
  rows: readonly Row[];
}

/**
 * A chart with title, summary and data table. It is redrawn when its width changes; the summary and the table carry the same data for
 * screen readers.
 */
export function createFigure<Row>({
  summary,
  legend,
  rows,
  draw,
  ...options
}: FigureText<Row> & FigureContent<Row> & { draw: (width: number) => MarkupElement }) {
  const figure = createLiveFigure({
    ...options,
    canvas: h('div', { class: 'canvas' }),
    describe: () => ({ summary, legend, rows }),
    draw: (width) => toNodes(draw(width))[0] as SVGSVGElement,
  });
  figure.update();
  return figure.element;
}

interface LiveFigureOptions<Row> extends FigureText<Row> {
  canvas: HTMLElement;
  /** Above the chart. */
  control?: Child;
  /** Below the chart. */
  below?: Children;
  /** What the figure shows now. */
  describe: () => FigureContent<Row>;
  draw: (width: number) => SVGSVGElement;
}

/** A figure whose data may change: `update` reads all of it again, `redraw` only the chart. */
export function createLiveFigure<Row>({ title, note, canvas, control, below, describe, draw, columns }: LiveFigureOptions<Row>) {
  const [summary, legend] = [h('span', {}), h('div', {})];
  const table = createFigureTable({ caption: title, columns, rows: () => describe().rows });
  let width = lastWidths.get(title) ?? 0;

  function redraw() {
    if (width === 0) return;
    const svg = draw(width);
    const before = canvas.querySelector('.chart');
    svg.setAttribute('role', 'img');
    svg.setAttribute('aria-label', `${title}. ${describe().summary}`);
    if (before === null) canvas.prepend(svg);
    else before.replaceWith(svg);
  }
  function update() {
    const now = describe();
    summary.textContent = now.summary;
    const marks = now.legend.map(({ label, mark }) => h('li', {}, h('span', { class: `mark ${mark}`, 'aria-hidden': 'true' }), label));
    replaceChildren(legend, marks.length > 0 && h('ul', { class: 'legend' }, marks));
    redraw();
    table.update();
  }
  new ResizeObserver(([{ contentRect }]) => {
    const next = Math.max(MIN_WIDTH, Math.floor(contentRect.width));
    // A hidden figure has no width.
    if (contentRect.width === 0 || next === width) return;
    width = next;
    lastWidths.set(title, width);
    redraw();
  }).observe(canvas);

  const element = h('figure', {}, [
    h('figcaption', {}, h('strong', {}, title), ' ', summary),
    h('div', { class: 'figure-tools' }, control, legend),
    h('div', {}, canvas, below, note === undefined ? null : h('p', { class: 'note' }, note)),
    table.element,
  ]);
  return { element, update, redraw };
}

/** Longer tables begin with their first rows, and show the others on request. */
const MAX_ROWS = 12;

/** Captions of tables that are open and of those that show all rows, so that a figure that is drawn again keeps them so. */
const openTables = new Set<string>();
const wholeTables = new Set<string>();

/** A table in a disclosure, built when it is opened, as it may have hundreds of rows. */
function createFigureTable<Row>(options: { caption: string; columns: readonly Column<Row>[]; rows: () => readonly Row[] }) {
  const { rows, ...table } = options;
  const { caption } = table;
  const body = h('div', {});
  const element = h('details', { class: 'table-of', open: openTables.has(caption), ontoggle: remember }, [
    h('summary', {}, 'Table', h('span', { class: 'visually-hidden' }, `: ${caption}`)),
    body,
  ]);

  function fill() {
    const all = rows();
    const isCut = all.length > MAX_ROWS && !wholeTables.has(caption);
    const more = isCut && h('button', { type: 'button', class: 'show-all', onclick: showAll }, `Show all ${all.length}`);
    replaceChildren(body, renderTable({ ...table, rows: isCut ? all.slice(0, MAX_ROWS) : all }), more);
  }
  function showAll() {
    wholeTables.add(caption);
    fill();
    body.querySelector<HTMLElement>('.scroll')?.focus({ preventScroll: true });
  }
  function remember() {
    if (element.open) openTables.add(caption);
    else openTables.delete(caption);
    if (element.open && body.childElementCount === 0) fill();
  }
  function update() {
    if (element.open) fill();
    else replaceChildren(body);
  }
  return { element, update };
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
