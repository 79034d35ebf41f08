import type { MarkupElement } from '../../views/markup.ts';
import { type Child, type Children, h, renderLegend, replaceChildren } from '../lib/dom.ts';
import { toNodes } from '../lib/markup-dom.ts';
import type { Column } from '../lib/table.ts';
import { createFigureTable } from './figure-table.ts';

const MIN_WIDTH = 220;

/** Widths by title, so that a figure that is built again is drawn at once and nothing moves. */
const lastWidths = new Map<string, number>();

type Legend = Parameters<typeof renderLegend>[0];

interface FigureOptions<Row> {
  title: string;
  summary: string;
  legend?: Legend;
  /** How to read it. */
  note?: string;
  draw: (width: number) => MarkupElement;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
}

/**
 * A chart with title, summary and data table. It is redrawn when its width changes; the summary and the table carry the same data for
 * screen readers.
 */
export function createFigure<Row>({ summary, legend = [], rows, draw, ...options }: FigureOptions<Row>) {
  const figure = createLiveFigure({
    ...options,
    canvas: h('div', { class: 'canvas' }),
    describe: () => ({ summary, legend, rows }),
    draw: (width) => toNodes(draw(width))[0] as SVGSVGElement,
  });
  figure.update();
  return figure.element;
}

interface LiveFigureOptions<Row> {
  title: string;
  note?: string;
  canvas: HTMLElement;
  /** Above the chart. */
  control?: Child;
  /** Below the chart. */
  below?: Children;
  /** What the figure shows now. */
  describe: () => { summary: string; legend: Legend; rows: readonly Row[] };
  draw: (width: number) => SVGSVGElement;
  columns: readonly Column<Row>[];
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
    replaceChildren(legend, now.legend.length === 0 ? null : renderLegend(now.legend));
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
