import { s } from '../lib/dom.js';
import { canvas, scale } from './chart.js';
import { textWidth, wrapText } from './text.js';

/** @import { Scale } from './chart.js' */

/**
 * A line of a forest plot: an estimate with its interval. Without a value there are only words.
 * @typedef {{
 *   label: string,
 *   note?: string,
 *   value: number | null,
 *   low: number | null,
 *   high: number | null,
 *   mark?: number | null,
 *   figures: string,
 *   words?: string,
 *   quiet?: boolean,
 * }} ForestRow `mark`: a reference of this line alone; `figures`, `words`: what stands at its end; `quiet`: proves nothing, drawn in grey
 */

/**
 * @typedef {{
 *   width: number,
 *   rows: readonly ForestRow[],
 *   reference: number | null,
 *   sides?: readonly [below: string, above: string],
 *   tick: (value: number) => string,
 *   domain?: readonly [number, number],
 * }} ForestOptions `domain`: what the axis shows; what lies beyond it ends in an arrow
 */

/** A tick in percent, without digits that say nothing. @param {number} value */
export function shortPercent(value) {
  return `${Number((100 * value).toFixed(1))} %`;
}

/** The same with its sign. @param {number} value */
export function signedPercent(value) {
  return `${value === 0 ? '' : value < 0 ? '−' : '+'}${shortPercent(Math.abs(value))}`;
}

const LINE = 16;
const GAP = 14;
const WIDE = 640;
const BOLD = { weight: 600 };

/**
 * A forest plot: estimates below each other on one axis with a line at the reference. Labels stand beside the axis, or above it where
 * the page is narrow.
 * @param {ForestOptions} options
 */
export function forest({ width, rows, reference, sides, tick, domain = domainOf(rows, reference) }) {
  const columns = columnsOf(width);
  const x = scale(domain, [columns.left, columns.right], width >= WIDE ? 6 : 4);
  const top = sides === undefined ? 6 : 24;
  let y = top;
  const lines = rows.map((row) => {
    const line = lineOf({ row, y, x, columns });
    y += line.height;
    return line;
  });
  // Where labels stand above the bars, the grid stays below them.
  const strips =
    columns.end === null
      ? lines.filter((_, index) => rows[index].value !== null).map(({ middle }) => ({ from: middle - 10, to: middle + 10 }))
      : [{ from: top, to: y }];
  return canvas(
    { width, height: y + 26 },
    axis({ x, strips, bottom: y, tick, width }),
    reference === null
      ? null
      : strips.map(({ from, to }) => s('line', { class: 'zero', x1: x(reference), x2: x(reference), y1: from, y2: to })),
    reference === null || sides === undefined ? null : sidesOf({ x: x(reference), sides, columns }),
    lines.map(({ element }) => element),
  );
}

/** @typedef {{ label: number, left: number, right: number, end: number | null, text: number }} Columns `end`: null where all stands above the axis */

/** @param {number} width @returns {Columns} */
function columnsOf(width) {
  if (width < WIDE) return { label: width, left: 10, right: width - 10, end: null, text: width };
  const label = Math.min(230, width * 0.26);
  const text = Math.min(290, width * 0.29);
  return { label: label - 12, left: label + 10, right: width - text - 28, end: width - text, text };
}

/**
 * @param {readonly ForestRow[]} rows
 * @param {number | null} reference
 * @returns {[number, number]}
 */
function domainOf(rows, reference) {
  const values = rows.flatMap(({ value, low, high, mark }) => [value, low, high, mark].filter((one) => one !== null && one !== undefined));
  const all = reference === null ? values : [reference, ...values];
  const low = Math.min(...all);
  const high = Math.max(...all);
  const room = (high - low || 0.1) * 0.06;
  return [low - room, high + room];
}

/**
 * A line of text. @typedef {{ text: string, class: string, end?: boolean }} Text `end`: at the right edge, on the line of the text before
 */

/** @param {{ row: ForestRow, y: number, x: Scale, columns: Columns }} options */
function lineOf({ row, y, x, columns }) {
  const wide = columns.end !== null;
  const left = textsOf({ strong: row.label, className: 'label', quiet: row.note, room: columns.label });
  const right = textsOf({ strong: row.figures, className: 'figures', quiet: row.words, room: columns.text });
  const stacked = stack(left, right, columns.text);
  const drawn = row.value !== null;
  const texts = wide ? Math.max(left.length, right.length) : stacked.filter(({ end }) => !end).length;
  const height = texts * LINE + (wide ? GAP : (drawn ? 20 : 0) + GAP);
  const middle = wide ? y + (texts * LINE) / 2 + 2 : y + texts * LINE + 14;
  const element = s(
    'g',
    { class: row.quiet ? 'estimate quiet-estimate' : 'estimate' },
    written({ texts: wide ? left : stacked, x: 0, right: columns.text, y }),
    wide ? written({ texts: right, x: columns.end ?? 0, right: 0, y }) : null,
    drawn ? marksOf({ row, x, y: middle }) : null,
  );
  return { element, height, middle };
}

/** @param {{ strong: string, className: string, quiet?: string, room: number }} options @returns {Text[]} */
function textsOf({ strong, className, quiet = '', room }) {
  const font = className === 'label' ? BOLD : undefined;
  return [
    ...wrapText(strong, room, font).map((text) => ({ text, class: className })),
    ...wrapText(quiet, room).map((text) => ({ text, class: 'quiet-text' })),
  ];
}

/**
 * Both columns in one; label and figures share a line where they fit.
 * @param {readonly Text[]} left
 * @param {readonly Text[]} right
 * @param {number} room
 * @returns {readonly Text[]}
 */
function stack(left, right, room) {
  const [label, ...notes] = left;
  const [figures, ...words] = right;
  const fits =
    notes.length === 0 &&
    label !== undefined &&
    figures !== undefined &&
    textWidth(label.text, BOLD) + textWidth(figures.text) + 16 <= room;
  return fits ? [label, { ...figures, end: true }, ...words] : [...left, ...right];
}

/** @param {{ texts: readonly Text[], x: number, right: number, y: number }} options */
function written({ texts, x, right, y }) {
  let line = -1;
  return texts.map(({ text, class: className, end }) => {
    if (!end) line += 1;
    return s('text', { x: end ? right : x, y: y + 14 + line * LINE, class: className, 'text-anchor': end ? 'end' : null }, text);
  });
}

/**
 * The interval with its ends, the estimate as a square, and a reference of its own as an empty diamond.
 * @param {{ row: ForestRow, x: Scale, y: number }} options
 */
function marksOf({ row, x, y }) {
  const [least, most] = x.domain;
  const { value, mark = null } = row;
  const low = row.low ?? value ?? 0;
  const high = row.high ?? value ?? 0;
  const from = x(Math.max(least, Math.min(most, low)));
  const to = x(Math.max(least, Math.min(most, high)));
  return [
    s('line', { class: 'interval', x1: from, x2: to, y1: y, y2: y }),
    low < least ? arrow(x(least), y, -1) : cap(from, y),
    high > most ? arrow(x(most), y, 1) : cap(to, y),
    value !== null && value >= least && value <= most
      ? s('rect', { class: 'square', x: x(value) - 3.5, y: y - 3.5, width: 7, height: 7 })
      : null,
    mark !== null && mark >= least && mark <= most ? s('path', { class: 'own-reference', d: diamond(x(mark), y, 8) }) : null,
  ];
}

/** @param {number} x @param {number} y */
function cap(x, y) {
  return s('line', { class: 'interval', x1: x, x2: x, y1: y - 4, y2: y + 4 });
}

/** @param {number} x @param {number} y @param {1 | -1} direction */
function arrow(x, y, direction) {
  return s('path', { class: 'arrow', d: `M${x.toFixed(1)} ${y - 5}l${direction * 8} 5l${-direction * 8} 5z` });
}

/** @param {number} x @param {number} y @param {number} radius */
export function diamond(x, y, radius) {
  return `M${x.toFixed(1)} ${(y - radius).toFixed(1)}l${radius} ${radius}l${-radius} ${radius}l${-radius} ${-radius}z`;
}

/** @param {{ x: Scale, strips: readonly { from: number, to: number }[], bottom: number, tick: (value: number) => string, width: number }} options */
function axis({ x, strips, bottom, tick, width }) {
  return s(
    'g',
    { class: 'grid', 'aria-hidden': 'true' },
    x.ticks.flatMap((value) => {
      const label = tick(value);
      const half = textWidth(label) / 2;
      return [
        ...strips.map(({ from, to }) => s('line', { x1: x(value), x2: x(value), y1: from, y2: to })),
        s('text', { x: Math.max(half, Math.min(width - half, x(value))), y: bottom + 18, 'text-anchor': 'middle' }, label),
      ];
    }),
  );
}

/** @param {{ x: number, sides: readonly [string, string], columns: Columns }} options */
function sidesOf({ x, sides: [below, above], columns }) {
  const room = columns.right + 10 - x;
  const after = `${above} →`;
  const before = `← ${below}`;
  return s(
    'g',
    { class: 'sides', 'aria-hidden': 'true' },
    textWidth(before) + 8 <= x - columns.left + 10 ? s('text', { x: x - 8, y: 12, 'text-anchor': 'end' }, before) : null,
    textWidth(after) + 8 <= room ? s('text', { x: x + 8, y: 12 }, after) : null,
  );
}
