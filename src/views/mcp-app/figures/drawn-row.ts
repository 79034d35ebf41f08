import { el, type Markup, type MarkupElement } from '../../markup.ts';
import type { Interval } from '../fields.ts';

/** A figure as a line of text beside its drawing; the drawing has no content of its own. */
export interface DrawnRow {
  label: string;
  text: string;
  /** What the ends of the drawing stand for. */
  domain: Interval;
  interval?: Interval | null;
  value?: number | null;
  /** Dashed: what the figure is compared with. */
  reference?: number | null;
  /** A range is filled; the interval of a measurement is a line with caps. */
  isRange?: boolean;
}

/** Units of a drawing that is stretched to its place; its strokes keep their width. */
const WIDTH = 300;
const HEIGHT = 16;
const MIDDLE = HEIGHT / 2;

export function renderRows(rows: readonly DrawnRow[]): MarkupElement | null {
  return rows.length === 0 ? null : el('dl', { class: 'rows' }, rows.map(renderRow));
}

function renderRow(row: DrawnRow): MarkupElement {
  return el('div', {}, [el('dt', {}, row.label), el('dd', { class: 'drawn' }, drawRow(row)), el('dd', {}, row.text)]);
}

function drawRow({ domain, interval = null, value = null, reference = null, isRange = false }: DrawnRow): MarkupElement {
  const toX = (at: number) => {
    const share = domain.high === domain.low ? 0.5 : (at - domain.low) / (domain.high - domain.low);
    return Math.round(10 * WIDTH * Math.min(1, Math.max(0, share))) / 10;
  };
  return el('svg', { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, height: HEIGHT, preserveAspectRatio: 'none', 'aria-hidden': 'true' }, [
    drawLine('axis', [0, MIDDLE], [WIDTH, MIDDLE]),
    interval === null
      ? null
      : isRange
        ? drawRange(toX(interval.low), toX(interval.high))
        : drawInterval(toX(interval.low), toX(interval.high)),
    reference === null ? null : drawLine('reference', [toX(reference), 0], [toX(reference), HEIGHT]),
    value === null ? null : drawLine('value', [toX(value), MIDDLE], [toX(value), MIDDLE]),
  ]);
}

function drawRange(from: number, to: number): MarkupElement {
  return el('rect', { class: 'range', x: from, y: 3, width: Math.round(10 * (to - from)) / 10, height: HEIGHT - 6 });
}

function drawInterval(from: number, to: number): Markup {
  return [
    drawLine('interval', [from, MIDDLE], [to, MIDDLE]),
    [from, to].map((x) => drawLine('interval', [x, MIDDLE - 4], [x, MIDDLE + 4])),
  ];
}

type Point = readonly [x: number, y: number];

function drawLine(name: string, [x1, y1]: Point, [x2, y2]: Point): MarkupElement {
  return el('line', { class: name, x1, y1, x2, y2, 'vector-effect': 'non-scaling-stroke' });
}
