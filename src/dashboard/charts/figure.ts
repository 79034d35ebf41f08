import { type Child, h, renderLegend, replaceChildren } from '../lib/dom.ts';
import { renderTable, type Table } from '../lib/table.ts';

const MIN_WIDTH = 280;

/** Titles of open tables, so that a redrawn figure keeps its table open. */
const openTables = new Set<string>();

interface FigureOptions<Row> extends Omit<Table<Row>, 'caption'> {
  title: string;
  summary: string;
  legend?: Parameters<typeof renderLegend>[0];
  /** Element under the chart. */
  below?: Child;
  /** How to read it. */
  note?: string;
  draw: (width: number) => SVGSVGElement;
  /** Receives a function that redraws the chart alone. */
  ready?: (redraw: () => void) => void;
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
  return h('figure', {}, [
    h('figcaption', {}, h('strong', {}, title), ' ', summary),
    legend.length === 0 ? null : renderLegend(legend),
    canvas,
    below,
    note === undefined ? null : h('p', { class: 'note' }, note),
    createLazyTable({ caption: title, columns, rows }),
  ]);
}

/** The table is built when it is opened, as it may have hundreds of rows. */
function createLazyTable<Row>(table: Table<Row>) {
  const { caption } = table;
  const body = h('div', {});
  const fill = () => body.childElementCount === 0 && replaceChildren(body, renderTable(table));
  const open = openTables.has(caption);
  if (open) fill();
  const ontoggle = ({ target }: Event) => {
    const { open } = target as HTMLDetailsElement;
    if (open) openTables.add(caption);
    else openTables.delete(caption);
    if (open) fill();
  };
  const summary = h('summary', {}, 'Table', h('span', { class: 'visually-hidden' }, `: ${caption}`));
  return h('details', { class: 'table-of', open, ontoggle }, summary, body);
}
