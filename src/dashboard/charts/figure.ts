import { type Child, h, replaceChildren } from '../lib/dom.ts';
import { type Column, renderTable } from '../lib/table.ts';

const MIN_WIDTH = 280;

/** Titles of open tables, so that a redrawn figure keeps its table open. */
const openTables = new Set<string>();

interface FigureOptions<Row> {
  title: string;
  summary: string;
  /** `mark`: class of the legend mark, such as `mark-line`. */
  legend?: readonly { label: string; mark: string }[];
  /** Element under the chart. */
  below?: Child;
  /** How to read it. */
  note?: string;
  draw: (width: number) => SVGSVGElement;
  /** Receives a function that redraws the chart alone. */
  ready?: (redraw: () => void) => void;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
}

/**
 * A chart with title, summary and data table. It is redrawn when its width changes; the summary and the table carry the same data for
 * screen readers.
 */
export function createFigure<Row>({ title, summary, legend = [], below = null, note, draw, ready, columns, rows }: FigureOptions<Row>) {
  const canvas = h('div', { class: 'canvas' });
  let drawnAt = 0;
  function redraw() {
    if (drawnAt === 0) return;
    const svg = draw(drawnAt);
    svg.setAttribute('role', 'img');
    svg.setAttribute('aria-label', `${title}. ${summary}`);
    replaceChildren(canvas, svg);
  }
  new ResizeObserver(([{ contentRect }]) => {
    const width = Math.max(MIN_WIDTH, Math.floor(contentRect.width));
    if (width === drawnAt) return;
    drawnAt = width;
    redraw();
  }).observe(canvas);
  ready?.(redraw);
  const marks = legend.map(({ label, mark }) => h('li', {}, h('span', { class: `mark ${mark}`, 'aria-hidden': 'true' }), label));
  return h(
    'figure',
    {},
    h('figcaption', {}, h('strong', {}, title), ' ', summary),
    marks.length === 0 ? null : h('ul', { class: 'legend' }, marks),
    canvas,
    below,
    note === undefined ? null : h('p', { class: 'note' }, note),
    createLazyTable({ title, columns, rows }),
  );
}

/** The table is built when it is opened, as it may have hundreds of rows. */
function createLazyTable<Row>({ title, columns, rows }: { title: string; columns: readonly Column<Row>[]; rows: readonly Row[] }) {
  const body = h('div', {});
  const fill = () => body.childElementCount === 0 && replaceChildren(body, renderTable({ caption: title, columns, rows }));
  const open = openTables.has(title);
  if (open) fill();
  return h(
    'details',
    {
      class: 'table-of',
      open,
      ontoggle: ({ target }) => {
        const { open } = target as HTMLDetailsElement;
        if (open) openTables.add(title);
        else openTables.delete(title);
        if (open) fill();
      },
    },
    h('summary', {}, 'Table', h('span', { class: 'visually-hidden' }, `: ${title}`)),
    body,
  );
}
